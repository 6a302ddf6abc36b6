// What the tests ask of a page that is open; put into it as functions.
window.measures = (() => {
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = 1;
  const pen = canvas.getContext("2d", { willReadFrequently: true });

  /* Colours one on the other, the lowest first, as red, green and blue. */
  const painted = (...colours) => {
    pen.clearRect(0, 0, 1, 1);
    for (const colour of colours) {
      pen.fillStyle = colour;
      pen.fillRect(0, 0, 1, 1);
    }
    return [...pen.getImageData(0, 0, 1, 1).data].slice(0, 3);
  };
  const light = (rgb) => {
    const [red, green, blue] = rgb.map((value) => {
      const share = value / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  /* The ratio of WCAG 2. */
  const ratio = (one, other) => {
    const [low, high] = [light(one), light(other)].sort((a, b) => a - b);
    return (high + 0.05) / (low + 0.05);
  };
  /* The grounds under an element, the lowest first. */
  const grounds = (element) => {
    const found = [];
    for (let at = element; at; at = at.parentElement) found.unshift(getComputedStyle(at).backgroundColor);
    return ["white", ...found];
  };
  const contrast = (element) => {
    const style = getComputedStyle(element);
    const under = grounds(element);
    const ink = element instanceof SVGElement ? style.fill : style.color;
    return ratio(painted(...under, ink), painted(...under));
  };
  const seen = (element) => element.checkVisibility({ visibilityProperty: true }) && !element.closest(".unseen");

  /* Elements with text of their own, that can be seen. */
  const texts = () =>
    [...document.body.querySelectorAll("*")].filter(
      (element) =>
        !["SCRIPT", "STYLE", "NOSCRIPT", "OPTION"].includes(element.tagName) &&
        [...element.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.data.trim()) &&
        seen(element),
    );
  const words = (element) => `${element.tagName} ${element.className.baseVal ?? element.className}: ${element.textContent.trim().slice(0, 40)}`;
  return { contrast, grounds, light, painted, ratio, seen, texts, words };
})();
