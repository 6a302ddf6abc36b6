"""Where a fit computes."""

import pytest

from ssdl import SSDLGA, errors


def test_a_card_is_not_silently_replaced(digits):
    X, few = digits["X"], digits["few"]
    model = SSDLGA(n_atoms=20, max_iter=2, device="gpu")
    try:
        model.fit(X, few)
    except errors.DeviceError as error:
        assert any(word in str(error) for word in ("graphics card", "driver", "cuBLAS", "NVRTC"))
        assert not hasattr(model, "classes_")
    assert SSDLGA(n_atoms=20, max_iter=2, device="auto").fit(X, few).n_iter_ <= 2
    with pytest.raises(ValueError, match="device"):
        SSDLGA(device="tpu").fit(X, few)


def test_the_device_is_a_parameter_of_every_method(estimator):
    assert estimator.get_params()["device"] == "cpu"


def test_predictions_are_made_where_the_fit_was(digits):
    model = SSDLGA(n_atoms=20, max_iter=2).fit(digits["X"], digits["few"])
    here = model.predict_proba(digits["new"])
    model.set_params(device="auto")
    # Few samples stay on the processor, with a card too.
    assert (model.predict_proba(digits["new"]) == here).all()
    try:
        there = model.set_params(device="gpu").predict_proba(digits["new"])
    except errors.DeviceError as error:
        assert any(word in str(error) for word in ("graphics card", "driver", "cuBLAS", "NVRTC"))
    else:
        assert (there == here).all()
