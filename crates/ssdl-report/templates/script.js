"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const letters = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-";
  const byId = (id) => document.getElementById(id);

  /* An element with attributes and children; strings become text, never markup. */
  const make = (tag, attributes, ...children) => {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes || {})) {
      if (value !== null && value !== undefined) element.setAttribute(name, value);
    }
    element.append(...children.filter((child) => child !== null));
    return element;
  };

  /* A letter may take two code units. */
  const cut = (text) => ([...text].length > 24 ? [...text].slice(0, 23).join("") + "…" : text);
  const nameOf = (index) => cut(data.classes[index]);
  const percent = (share) => (share >= 0.9995 ? "100 %" : (100 * share).toFixed(share < 0.0995 ? 1 : 0) + " %");
  const minus = (text) => (/^-0\.?0*$/.test(text) ? text.slice(1) : text.replace("-", "−"));
  const signed = (value) => (value < 0 ? "−" : "+") + Math.abs(value).toPrecision(2);

  /* A tile of one of the sheets, about size pixels wide; null if there is no picture. */
  const tile = (sheet, index, size, words) => {
    const source = data[sheet];
    if (source.kind === "image") {
      const zoom = size / Math.max(source.width, source.height);
      const rows = Math.ceil(source.count / source.columns);
      const [x, y] = [index % source.columns, Math.floor(index / source.columns)];
      const style =
        `width:${source.width * zoom}px;height:${source.height * zoom}px;` +
        `background-size:${source.columns * source.width * zoom}px ${rows * source.height * zoom}px;` +
        `background-position:${-x * source.width * zoom}px ${-y * source.height * zoom}px`;
      return make("span", { class: `tile ${sheet}`, role: "img", "aria-label": words, style });
    }
    if (source.kind !== "bars") return null;
    const bars = source.tiles[index];
    const middle = (letters.length - 1) / 2;
    const wide = 100 / bars.length;
    let path = "";
    [...bars].forEach((letter, place) => {
      const height = (30 * (letters.indexOf(letter) - middle)) / middle;
      path += `M${(place * wide).toFixed(2)} 30h${(wide * 0.85).toFixed(2)}v${(-height).toFixed(1)}h${(-wide * 0.85).toFixed(2)}z`;
    });
    const space = "http://www.w3.org/2000/svg";
    const svg = document.createElementNS(space, "svg");
    const attributes = { class: "tile", viewBox: "0 0 100 60", width: size * 1.25, height: size * 0.75, role: "img", "aria-label": words };
    for (const [name, value] of Object.entries(attributes)) svg.setAttribute(name, value);
    const drawn = document.createElementNS(space, "path");
    drawn.setAttribute("d", path);
    drawn.setAttribute("fill", "currentColor");
    svg.append(drawn);
    return svg;
  };

  const titleOf = (sample) => (sample.name ? cut(sample.name) : `sample ${sample.place}`);
  const isWrong = (sample) => sample.truth !== null && sample.predicted !== null && sample.truth !== sample.predicted;

  /* A button that explains the sample. */
  const choice = (index, lines) => {
    const sample = data.cases[index];
    const button = make(
      "button",
      { type: "button", "data-sample": index, title: titleOf(sample) },
      tile("samples", index, 56, titleOf(sample)),
      data.samples.kind === "none" ? make("span", {}, titleOf(sample)) : null,
      ...lines.map((line) => make("span", {}, line)),
    );
    button.addEventListener("click", () => show(index, true, true));
    return make("li", {}, button);
  };

  /* The most likely classes, one per line. */
  const likely = (sample, most) => sample.shares.slice(0, most).map(([index, share]) => `${nameOf(index)}: ${percent(share)}`);

  const showCell = (button) => {
    const [row, column] = [Number(button.dataset.row), Number(button.dataset.column)];
    const found = [...data.cases.keys()].filter((index) => {
      const sample = data.cases[index];
      return sample.truth === row && sample.predicted === column;
    });
    const all = Number(button.textContent);
    const what = row === column ? `${nameOf(row)}, correct` : `${nameOf(row)} mistaken for ${nameOf(column)}`;
    const part = found.length < all ? ` (${found.length} of ${all} are in this page)` : "";
    for (const other of document.querySelectorAll(".confusion [aria-pressed]")) other.removeAttribute("aria-pressed");
    button.setAttribute("aria-pressed", "true");
    const list = make("ul", { class: "tiles" });
    list.append(...found.map((index) => choice(index, likely(data.cases[index], 1))));
    byId("cell").replaceChildren(make("h3", {}, what + part), list);
  };

  const prediction = (sample) => {
    const name = make("b", {}, nameOf(sample.class));
    const words = make("p", {}, "Prediction: ", name, ` (${percent(sample.shares[0][1])})`);
    if (sample.second !== null) {
      const share = sample.shares.find(([index]) => index === sample.second);
      words.append(`, then ${nameOf(sample.second)}${share ? ` (${percent(share[1])})` : ""}`);
    }
    words.append(". ");
    if (sample.truth !== null) {
      const right = sample.truth === sample.class;
      const label = data.of_training ? "Its label is " : "Its true class is ";
      words.append(make("span", { class: right ? "good" : "wrong" }, `${label}${nameOf(sample.truth)}.`));
      if (data.of_training && sample.predicted !== null) {
        words.append(` Prediction while its label was hidden: ${nameOf(sample.predicted)}.`);
      }
    } else {
      words.append("It has no label.");
    }
    return words;
  };

  const shares = (sample) => {
    const grid = make("div", { class: "shares" });
    for (const [index, share] of sample.shares) {
      grid.append(
        make("span", { title: data.classes[index] }, nameOf(index)),
        make("span", { class: "bar" }, make("i", { style: `width:${(100 * share).toFixed(1)}%` })),
        make("span", {}, percent(share)),
      );
    }
    return make("div", {}, make("h3", {}, "Classes"), grid);
  };

  /* The sample and its reconstruction, then its atoms. */
  const parts = (sample, index) => {
    const list = make("ul", { class: "equation" });
    const add = (picture, ...words) => list.append(make("li", {}, picture, ...words.map((line) => make("span", {}, line))));
    const own = tile("samples", index, 112, titleOf(sample));
    if (own) add(own, titleOf(sample));
    if (data.atoms.kind !== "none") {
      add(tile("atoms", data.n_atoms + index, 112, "sum of its atoms"), "sum of its atoms");
    }
    const voted = sample.parts.some((part) => part[2] !== 0 || part[3] !== 0);
    for (const [part, amount, vote, second] of sample.parts) {
      if (data.n_atoms > 0) {
        const lines = [`${minus(amount.toPrecision(2))} × atom ${part}`];
        if (voted) lines.push(`${signed(vote)} for ${nameOf(sample.class)}`);
        if (voted && sample.second !== null) lines.push(`${signed(second)} for ${nameOf(sample.second)}`);
        add(tile("atoms", part, 64, `atom ${part}`), ...lines);
      } else if (voted) {
        const name = data.features ? cut(data.features[part] || `feature ${part}`) : `feature ${part}`;
        const lines = [`${signed(vote)} for ${nameOf(sample.class)}`];
        if (sample.second !== null) lines.push(`${signed(second)} for ${nameOf(sample.second)}`);
        add(null, name, ...lines);
      }
    }
    const more = sample.n_parts - sample.parts.length;
    if (data.n_atoms > 0 && more > 0) list.append(make("li", { class: "soft" }, `and ${more} more atoms`));
    const title = data.n_atoms > 0 ? "Its atoms, the most decisive first" : "The most decisive features";
    return make("div", {}, make("h3", {}, title), list);
  };

  const unusual = (sample) => {
    if (!sample.unusual) return null;
    const words = "Its most unusual features";
    const table = make("table", {}, make("caption", { class: "unseen" }, words), make("thead", {}, make("tr", {}, ...["feature", "value", "standard deviations from the mean"].map((name) => make("th", { scope: "col" }, name)))));
    const body = make("tbody", {});
    for (const [name, value, far] of sample.unusual) {
      body.append(make("tr", {}, make("th", { scope: "row", title: name }, cut(name)), make("td", {}, minus(String(value))), make("td", {}, signed(far))));
    }
    table.append(body);
    const region = { class: "wide full", tabindex: 0, role: "region", "aria-label": words };
    return make("div", region, make("h3", {}, words), table);
  };

  const neighbours = (sample) => {
    if (sample.near.length === 0) return null;
    const list = make("ul", { class: "equation" });
    for (const [at, weight] of sample.near) {
      const near = data.near[at];
      const known = near.label !== null;
      const label = known ? `labelled ${nameOf(near.label)}` : `unlabelled, predicted ${nameOf(near.predicted)}`;
      list.append(
        make("li", {}, tile("training", at, 64, titleOf(near)), make("span", {}, titleOf(near)), make("span", { class: known ? "" : "soft" }, label), make("span", {}, `weight ${minus(weight.toFixed(2))}`)),
      );
    }
    return make("div", { class: "full" }, make("h3", {}, "Its neighbours among the training samples"), list);
  };

  let current = 0;
  /* Explains a sample; on request puts it in the address and scrolls to it. */
  const show = (index, named, go) => {
    current = index;
    const sample = data.cases[index];
    const pieces = [prediction(sample), shares(sample), parts(sample, index), unusual(sample), neighbours(sample)];
    byId("sample").replaceChildren(...pieces.filter((piece) => piece !== null));
    byId("pick").value = String(index);
    if (named) history.replaceState(null, "", `#sample-${sample.place}`);
    if (go) {
      byId("explained").scrollIntoView({ behavior: matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth" });
      byId("pick").focus({ preventScroll: true });
    }
  };

  for (const place of document.querySelectorAll("[data-atom]")) {
    const atom = Number(place.dataset.atom);
    const picture = tile("atoms", atom, 44, `atom ${atom}`);
    if (picture) place.append(picture);
    place.title = `atom ${atom}`;
  }
  for (const button of document.querySelectorAll(".confusion button")) {
    button.addEventListener("click", () => showCell(button));
  }
  const unsure = data.unsure.map((index) => choice(index, likely(data.cases[index], 2)));
  byId("unsure-list").append(...unsure);
  if (data.cases.length === 0) {
    byId("explained").hidden = true;
    return;
  }
  for (const [index, sample] of data.cases.entries()) {
    const truth = sample.truth === null ? "" : isWrong(sample) ? `, ${nameOf(sample.truth)} mistaken for ${nameOf(sample.predicted)}` : `, ${nameOf(sample.truth)}`;
    byId("pick").append(make("option", { value: index }, titleOf(sample) + truth));
  }
  byId("pick").addEventListener("change", (event) => show(Number(event.target.value), true, false));
  const turn = (by) => show((current + by + data.cases.length) % data.cases.length, true, false);
  byId("before").addEventListener("click", () => turn(-1));
  byId("after").addEventListener("click", () => turn(1));
  /* The sample that the address names. */
  const requested = () => {
    const found = /^#sample-(\d+)$/.exec(location.hash);
    return found ? data.cases.findIndex((sample) => sample.place === Number(found[1])) : -1;
  };
  addEventListener("hashchange", () => requested() >= 0 && show(requested(), true, true));
  const wanted = requested();
  const mistake = data.cases.findIndex(isWrong);
  const first = wanted >= 0 ? wanted : mistake >= 0 ? mistake : data.unsure.length > 0 ? data.unsure[0] : 0;
  show(first, wanted >= 0, wanted >= 0);
  addEventListener("beforeprint", () => document.querySelectorAll("details").forEach((part) => (part.open = true)));
  /* The most frequent mistake is open at first. */
  const cells = [...document.querySelectorAll(".confusion td:not(.right) button, .confusion .right button")];
  const weight = (button) => Number(button.textContent) + (button.closest(".right") ? 0 : 1e9);
  const cell = cells.reduce((best, button) => (best && weight(best) >= weight(button) ? best : button), null);
  if (cell) showCell(cell);
})();
