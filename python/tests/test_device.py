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
