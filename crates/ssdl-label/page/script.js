"use strict";
(() => {
  const token = new URLSearchParams(location.search).get("token") || "";
  const byId = (id) => document.getElementById(id);
  /* Samples that the page holds; how many stay when the model has learnt something new. */
  const HELD = 12;
  const KEPT = 3;
  const LARGEST_ZOOM = 28;
  const LETTERS = "abcdefhijklmnopqrstvwyz";

  let facts = null;
  let news = null;
  let queue = [];
  let outbox = [];
  let done = [];
  /* Where in `done` the person looks; null: at the next sample. */
  let walking = null;
  let shown = null;
  let shownAt = 0;
  let guessSeen = false;
  let view = "one";
  let sending = false;
  let sendAgain = false;
  let stale = false;
  let ended = false;
  let online = true;
  /* Keys wait while an undo or redo is on its way: they are meant for what it brings back. */
  let turning = null;
  let keysWaiting = [];

  /* An element with attributes and children; strings become text, never markup. */
  const make = (tag, attributes, ...children) => {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes || {})) {
      if (value !== null && value !== undefined) element.setAttribute(name, value);
    }
    element.append(...children.filter((child) => child !== null));
    return element;
  };
  const cut = (text, most = 40) => ([...text].length > most ? [...text].slice(0, most - 1).join("") + "…" : text);
  const percent = (share) => `${(100 * share).toFixed(share > 0 && share < 0.0995 ? 1 : 0)} %`;
  const number = (value) => (Number.isInteger(value) ? String(value) : Number(value.toPrecision(4)).toString()).replace("-", "−");
  const newId = () => [...crypto.getRandomValues(new Uint8Array(12))].map((byte) => byte.toString(16).padStart(2, "0")).join("");

  const ask = async (path, body) => {
    const options = { headers: { "X-Token": token }, cache: "no-store" };
    if (body !== undefined) {
      options.method = "POST";
      options.body = JSON.stringify(body);
      options.headers["Content-Type"] = "application/json";
    }
    const response = await fetch(path, options);
    if (!response.ok) {
      const error = new Error(await response.text());
      error.status = response.status;
      throw error;
    }
    return response.json();
  };

  /* What was not sent yet survives the page. */
  const shelf = () => `ssdl-label ${facts.journal} ${facts.person}`;
  const keep = () => {
    try {
      localStorage.setItem(shelf(), JSON.stringify(outbox));
    } catch {
      /* Without storage, answers wait in the page alone. */
    }
  };
  const kept = () => {
    try {
      return JSON.parse(localStorage.getItem(shelf())) || [];
    } catch {
      return [];
    }
  };

  const saySaved = () => {
    const place = byId("saved");
    const waiting = outbox.length;
    const answers = waiting === 1 ? "1 answer waits" : `${waiting} answers wait`;
    let [words, look] = ["Saved", "good"];
    if (!online) [words, look] = [waiting ? `No connection: ${answers} in this browser` : "No connection", "bad"];
    else if (waiting) [words, look] = ["Saving", "waits"];
    if (place.textContent !== words) place.textContent = words;
    place.className = look;
  };

  const tellProblem = (words) => {
    byId("note").textContent = words;
    byId("note").hidden = !words;
  };

  /* Sends what waits, in order, and asks for more samples; one request at a time. */
  const sync = async () => {
    if (sending) {
      sendAgain = true;
      return;
    }
    sending = true;
    try {
      for (;;) {
        sendAgain = false;
        /* What the model asks for now replaces the rest, when it is here. */
        const staying = stale ? queue.slice(0, KEPT) : queue;
        const replaces = stale;
        stale = false;
        const entries = outbox.slice(0, 200);
        const want = Math.max(0, HELD - staying.length);
        if (entries.length === 0 && (want === 0 || (ended && queue.length === 0))) break;
        const later = outbox.slice(200).flatMap((entry) => (entry.answers || []).map((answer) => answer.sample));
        const have = [...staying.map((item) => item.sample), ...later].slice(0, 100);
        const answer = await ask("/answer", { entries, have, want });
        online = true;
        if (replaces) queue = queue.filter((item) => staying.includes(item) || item === shown);
        take(answer);
        if (outbox.length === 0 && !sendAgain) break;
      }
    } catch (error) {
      await failed(error);
    } finally {
      sending = false;
      saySaved();
    }
    if (sendAgain) sync();
  };

  const take = (answer) => {
    const saved = new Set(answer.saved);
    outbox = outbox.filter((entry) => !saved.has(entry.id));
    keep();
    const busy = new Set([...queue.map((item) => item.sample), ...outbox.flatMap((entry) => (entry.answers || []).map((one) => one.sample))]);
    const fresh = answer.next.filter((item) => !busy.has(item.sample));
    fresh.forEach(preload);
    queue.push(...fresh);
    ended = answer.next.length === 0 && queue.length === 0;
    byId("one").querySelector("[data-do=undo]").disabled = !answer.undo && outbox.length === 0;
    byId("one").querySelector("[data-do=redo]").disabled = !answer.redo;
    if (turning && saved.has(turning)) finishTurn(answer.undid.find((turn) => turn.id === turning));
    else if (walking === null && (!shown || !queue.some((item) => item.sample === shown.sample))) show();
    saySaved();
  };

  let retry = 0;
  const failed = async (error) => {
    if (error.status === 400 && outbox.length > 0) {
      /* One of several may be refused: alone, the others are saved. */
      for (const entry of [...outbox]) {
        try {
          await ask("/answer", { entries: [entry], have: queue.map((item) => item.sample), want: 0 });
          tellProblem("");
        } catch (alone) {
          if (alone.status !== 400) return;
          tellProblem(`Not saved: ${alone.message}`);
        }
        outbox = outbox.filter((other) => other.id !== entry.id);
        keep();
        if (turning === entry.id) finishTurn();
      }
      return;
    }
    online = false;
    if (error.status === 403) tellProblem("The server does not know this page any more: open the address that `ssdl label` printed. What is not sent yet waits in this browser.");
    else if (error.status) tellProblem(`Not saved yet: ${error.message}`);
    clearTimeout(retry);
    retry = setTimeout(sync, 1000);
  };

  const send = (entry) => {
    outbox.push(entry);
    keep();
    saySaved();
    sync();
  };

  /* Pictures: whole-number zoom for small ones, as large as there is room for the others. */
  const picture = (sample, words) => {
    const image = new Image();
    image.alt = words;
    image.decoding = "async";
    image.src = `/picture/${sample}?token=${token}`;
    return image;
  };
  const preload = (item) => {
    if (facts.kind === "image" && !item.image) item.image = picture(item.sample, item.name);
    return item;
  };
  const fitted = (image, width, height) => {
    const size = () => {
      /* Squares that are larger than this hide what they make up. */
      const zoom = Math.min(LARGEST_ZOOM, Math.floor(Math.min(width / image.naturalWidth, height / image.naturalHeight)));
      if (zoom < 1) return;
      image.style.width = `${zoom * image.naturalWidth}px`;
      image.style.height = `${zoom * image.naturalHeight}px`;
      image.classList.toggle("sharp", zoom > 1);
    };
    if (image.complete && image.naturalWidth) size();
    else image.addEventListener("load", size, { once: true });
    return image;
  };
  const small = (sample, name, side) => fitted(picture(sample, name), side, side);

  const table = (features, words, wide) => {
    const rows = features.map(({ name, value, far }) => {
      const bar = make("i");
      bar.style.width = `${Math.min(100, 33 * Math.abs(far))}%`;
      return make("tr", {}, make("th", { scope: "row", title: name }, cut(name, wide ? 40 : 16)), make("td", {}, number(value)), wide ? make("td", { class: "bar", title: `${number(far)} standard deviations from the mean` }, bar) : null);
    });
    return make("table", {}, make("caption", { class: "unseen" }, words), make("tbody", {}, ...rows));
  };
  const tileOf = (item, side) => (facts.kind === "image" ? small(item.sample, item.name, side) : table(item.row.slice(0, 3), item.name, false));

  const verdictWords = (mine) => {
    if (!mine) return "";
    if (mine === "skipped" || "skipped" in Object(mine)) return "skipped";
    if (mine === "unusable" || "unusable" in Object(mine)) return "unusable";
    return mine.label;
  };

  /* Shows the next sample, or the one that the person walked to. */
  const show = () => {
    const item = walking === null ? queue[0] : done[walking];
    const isNew = !shown || !item || shown.sample !== item.sample || shown !== item;
    shown = item || null;
    if (isNew) {
      shownAt = performance.now();
      guessSeen = false;
    }
    const place = byId("sample");
    if (!item) {
      const words = !news || !news.ready ? "Reading the samples…" : ended ? "Everything is labelled." : "One moment…";
      place.replaceChildren(make("p", {}, words));
      byId("name").textContent = byId("place").textContent = "";
      byId("near").hidden = true;
    } else {
      if (facts.kind === "image") {
        preload(item);
        const narrow = innerWidth <= 512;
        place.replaceChildren(fitted(item.image, place.clientWidth, narrow ? 224 : 288));
      } else {
        const more = item.more > 0 ? make("p", { class: "soft" }, `and ${item.more} more features`) : null;
        place.replaceChildren(make("div", {}, table(item.row, `Features of ${item.name}`, true), ...(more ? [more] : [])));
      }
      byId("name").textContent = cut(item.name, 60);
      byId("name").title = item.name;
      const answered = verdictWords(item.mine);
      const why = { random: "drawn at random", shared: "for two people" }[item.why] || "";
      byId("place").textContent = walking === null ? why : `answer ${walking + 1} of ${done.length}: ${answered}`;
      byId("near").hidden = item.near.length === 0;
      byId("near").classList.toggle("rows", facts.kind !== "image");
      byId("near-list").replaceChildren(...item.near.map((near) => make("li", {}, tileOf(near, 48), make("span", {}, cut(near.label || "", 24)))));
    }
    if (walking !== null) sayGuess();
    else if (isNew && byId("guess").dataset.of !== "last") byId("guess").textContent = "";
    pressClass();
  };

  const sayGuess = () => {
    const place = byId("guess");
    place.dataset.of = "";
    if (!guessSeen || !shown) place.replaceChildren();
    else if (!shown.guess) place.replaceChildren("There is no guess yet.");
    else place.replaceChildren("Guess: ", make("b", {}, cut(shown.guess.label)), ` (${percent(shown.guess.probability)}). `, make("kbd", {}, "Enter"), " accepts it.");
  };

  /* After the answer the guess may be seen. */
  const sayOutcome = (item, verdict) => {
    const place = byId("guess");
    place.dataset.of = "last";
    if (verdict.label === undefined) {
      place.replaceChildren(verdict === "skipped" ? "Skipped." : "Marked unusable.");
      return;
    }
    const words = [`${cut(verdict.label)}. `];
    if (item.guess && item.guess.label === verdict.label) words.push(make("span", { class: "good" }, "The model guessed it, too."));
    else if (item.guess) words.push(make("span", { class: "wrong" }, `The model guessed ${cut(item.guess.label)}.`));
    place.replaceChildren(...words);
  };

  const answer = (verdict) => {
    if (!shown) return;
    const item = shown;
    const one = {
      sample: item.sample,
      verdict,
      guess: item.guess ? item.guess.label : null,
      probability: item.guess ? item.guess.probability : null,
      /* Who answers again knows the first answer. */
      seen: guessSeen || walking !== null,
      random: item.why === "random",
      seconds: (performance.now() - shownAt) / 1000,
    };
    item.mine = verdict;
    if (walking === null) {
      queue.shift();
      done.push(item);
    } else {
      walking = walking + 1 < done.length ? walking + 1 : null;
    }
    sayOutcome(item, verdict);
    send({ id: newId(), act: "answer", answers: [one] });
    show();
  };

  /* Undo and redo: the server knows what they are about, across restarts. */
  const turn = (act) => {
    if (turning) {
      keysWaiting.push(act);
      return;
    }
    turning = newId();
    send({ id: turning, act });
    setTimeout(() => turning && !online && finishTurn(), 1500);
    turnedBy = act;
  };
  let turnedBy = "undo";
  const finishTurn = async (result) => {
    turning = null;
    walking = null;
    const samples = result ? result.samples : [];
    const place = byId("guess");
    place.dataset.of = "last";
    if (!result && !online) place.textContent = "This waits for the connection.";
    else if (!result) place.textContent = turnedBy === "undo" ? "Nothing to undo." : "Nothing to redo.";
    else if (turnedBy === "undo") {
      done = done.filter((item) => !samples.includes(item.sample));
      place.textContent = samples.length === 1 ? "Taken back." : `${samples.length} answers taken back.`;
      if (samples.length === 1) {
        try {
          const item = preload(await ask(`/item/${samples[0]}`));
          queue = [item, ...queue.filter((other) => other.sample !== item.sample)];
        } catch {
          /* It comes again in its turn. */
        }
      }
    } else {
      for (const item of queue.filter((other) => samples.includes(other.sample))) done.push(item);
      queue = queue.filter((item) => !samples.includes(item.sample));
      place.textContent = samples.length === 1 ? "Done again." : `${samples.length} answers done again.`;
    }
    if (view === "grid") showGrid();
    show();
    const waiting = keysWaiting;
    keysWaiting = [];
    waiting.forEach((key) => press(key));
    sync();
  };

  const walk = async (by) => {
    const at = (walking === null ? done.length : walking) + by;
    if (at < 0 || at > done.length || done.length === 0) return;
    walking = at === done.length ? null : at;
    if (walking !== null && !done[walking].near) {
      try {
        done[walking] = preload(await ask(`/item/${done[walking].sample}`));
      } catch {
        return;
      }
    }
    show();
  };

  /* Classes and their keys. */
  const classes = () => (news ? news.classes : []);
  /* A class that is called like a key has that key; the others take what is left, in order. */
  let keys = [];
  const assignKeys = () => {
    const free = [..."1234567890" + LETTERS];
    keys = classes().map((name) => {
      const at = free.indexOf(name.toLowerCase());
      return at < 0 ? "" : free.splice(at, 1)[0];
    });
    keys = keys.map((key) => key || free.shift() || "");
  };
  const keyOf = (at) => keys[at];
  const classOf = (key) => (key ? classes().find((_, at) => keyOf(at) === key) : undefined);
  let drawnClasses = "";
  const drawClasses = () => {
    const find = byId("find").value.trim();
    const counts = new Map(news.progress.classes);
    const fold = (text) => text.toLocaleLowerCase();
    const matching = classes().map((name, at) => [name, at]).filter(([name]) => !find || fold(name).includes(fold(find)));
    const mark = JSON.stringify([find, classes()]);
    if (mark !== drawnClasses) {
      drawnClasses = mark;
      assignKeys();
      const buttons = matching.map(([name, at]) => {
        const key = keyOf(at);
        const button = make("button", { type: "button", title: name, "aria-label": name, "aria-keyshortcuts": key || null, "data-at": at }, key ? make("kbd", {}, key.toUpperCase()) : null, make("span", {}, cut(name, 60)), make("span", { class: "count" }));
        button.addEventListener("click", (event) => {
          answer({ label: name });
          if (event.detail > 0) button.blur();
        });
        return make("li", {}, button);
      });
      if (find && !classes().includes(find)) {
        const button = make("button", { type: "button", class: "add" }, make("span", {}, `Add “${cut(find)}”`));
        button.addEventListener("click", () => pickFound(true));
        buttons.push(make("li", {}, button));
      }
      if (buttons.length === 0) buttons.push(make("li", { class: "hint" }, "No classes yet: type the first one above and press Enter."));
      byId("classes").replaceChildren(...buttons);
      drawGridClasses();
    }
    for (const button of byId("classes").querySelectorAll("[data-at]")) {
      button.querySelector(".count").textContent = counts.get(classes()[Number(button.dataset.at)]) || "";
    }
    pressClass();
  };
  const pressClass = () => {
    const own = shown && shown.mine ? verdictWords(shown.mine) : null;
    for (const button of byId("classes").querySelectorAll("[data-at]")) {
      const isOwn = own !== null && classes()[Number(button.dataset.at)] === own;
      button.setAttribute("aria-pressed", String(isOwn));
    }
  };
  /* Takes what was typed: a class that is there, or a new one. */
  const pickFound = (isNew) => {
    const find = byId("find").value.trim();
    if (!find) return;
    const fold = (text) => text.toLocaleLowerCase();
    const exact = classes().find((name) => name === find) || classes().find((name) => fold(name) === fold(find));
    const first = classes().find((name) => fold(name).includes(fold(find)));
    const label = isNew ? find : exact || first || find;
    byId("find").value = "";
    byId("find").blur();
    if (!classes().includes(label)) {
      news.classes.push(label);
      news.progress.classes.push([label, 0]);
    }
    drawClasses();
    if (shown) answer({ label });
    else send({ id: newId(), act: "class", name: label });
  };

  /* The grid. */
  let gridItems = [];
  const drawGridClasses = () => {
    const select = byId("grid-class");
    const before = select.value;
    select.replaceChildren(...classes().map((name) => make("option", { value: name }, cut(name, 60))));
    if (classes().includes(before)) select.value = before;
  };
  const showGrid = async () => {
    const words = byId("grid-words");
    if (!news.refit) {
      gridItems = [];
      words.textContent = "There is no model yet: label samples of at least two classes first.";
    } else {
      try {
        gridItems = (await ask(`/grid?class=${encodeURIComponent(byId("grid-class").value)}`)).items;
        words.textContent = gridItems.length === 0 ? "The model puts no further sample into this class." : "";
      } catch (error) {
        words.textContent = error.status ? error.message : "No connection.";
        return;
      }
    }
    const list = byId("grid-list");
    list.replaceChildren(
      ...gridItems.map((item) => {
        const share = item.guess ? percent(item.guess.probability) : "";
        const button = make("button", { type: "button", "aria-pressed": "false", "aria-label": `${item.name}, ${share}`, title: item.name }, tileOf(item, 72), make("span", {}, share));
        button.addEventListener("click", () => {
          button.setAttribute("aria-pressed", String(button.getAttribute("aria-pressed") !== "true"));
          countGrid();
        });
        return make("li", {}, button);
      }),
    );
    countGrid();
    list.querySelector("button")?.focus({ preventScroll: true });
  };
  const countGrid = () => {
    const right = byId("grid-list").querySelectorAll("[aria-pressed=false]").length;
    byId("grid-confirm").disabled = right === 0;
    byId("grid-confirm").replaceChildren(make("kbd", {}, "Enter"), right ? ` Confirm ${right}` : " Confirm");
  };
  const confirmGrid = () => {
    const label = byId("grid-class").value;
    const buttons = [...byId("grid-list").querySelectorAll("button")];
    const right = gridItems.filter((_, at) => buttons[at].getAttribute("aria-pressed") !== "true");
    if (right.length === 0) return;
    const answers = right.map((item) => ({ sample: item.sample, verdict: { label }, guess: item.guess.label, probability: item.guess.probability, seen: true, seconds: null }));
    queue = queue.filter((item) => !right.some((one) => one.sample === item.sample));
    send({ id: newId(), act: "answer", answers });
    const words = `${right.length} labelled ${cut(label)}.`;
    gridItems = [];
    const settled = () => (outbox.length || sending ? setTimeout(settled, 30) : showGrid().then(() => (byId("grid-words").textContent = `${words} ${byId("grid-words").textContent}`)));
    settled();
  };

  /* Labels to look at again. */
  const showAgain = async () => {
    let found;
    try {
      found = (await ask("/again")).found;
    } catch (error) {
      byId("again-words").textContent = error.status ? error.message : "No connection.";
      return;
    }
    byId("again-words").textContent = found.length ? "" : "Nothing to look at again.";
    byId("agreement").replaceChildren(...news.progress.agreement.map((pair) => make("li", {}, `${pair.one} and ${pair.other} agree with κ = ${pair.kappa.toFixed(2)} on ${pair.samples} samples that both labelled.`)));
    byId("again-list").replaceChildren(
      ...found.map(({ again, item }) => {
        const row = make("li", {});
        const settle = (label) => {
          send({ id: newId(), act: "answer", answers: [{ sample: item.sample, verdict: { label }, guess: item.guess ? item.guess.label : null, probability: item.guess ? item.guess.probability : null, seen: true, settles: true, seconds: null }] });
          row.remove();
        };
        const button = (words, label, look) => {
          const made = make("button", { type: "button", class: look }, words);
          made.addEventListener("click", () => settle(label));
          return made;
        };
        const other = make("select", { "aria-label": `Another class for ${item.name}` }, make("option", { value: "" }, "Another class"), ...classes().map((name) => make("option", { value: name }, cut(name))));
        other.addEventListener("change", () => other.value && settle(other.value));
        const label = again.label || "";
        row.append(
          make("div", {}, tileOf(item, 96)),
          make("div", {}, make("p", {}, make("b", {}, cut(label)), " ", make("span", { class: "soft" }, cut(item.name))), make("p", {}, again.reason), make("div", { class: "do" }, label ? button(`Keep ${cut(label)}`, label) : null, again.rather ? button(`Change to ${cut(again.rather)}`, again.rather, "main") : null, other)),
        );
        return row;
      }),
    );
  };

  const goTo = (name) => {
    view = name;
    for (const part of ["one", "grid", "again", "leave"]) byId(part).hidden = part !== name;
    for (const button of document.querySelectorAll("[data-view]")) {
      if (button.dataset.view === name) button.setAttribute("aria-current", "page");
      else button.removeAttribute("aria-current");
    }
    if (name === "one") show();
    if (name === "grid") showGrid();
    if (name === "again") showAgain();
  };

  /* Progress. */
  const interval = (share) => `${(100 * share.low).toFixed(0)}–${(100 * share.high).toFixed(0)} %`;
  const drawProgress = () => {
    const { progress } = news;
    const set = (id, text) => {
      if (byId(id).textContent !== text) byId(id).textContent = text;
    };
    set("labelled", String(progress.labelled));
    set("labelled-words", `labelled, of ${progress.samples}${progress.unusable ? `; ${progress.unusable} unusable` : ""}${progress.skipped ? `; ${progress.skipped} skipped` : ""}`);
    set("last", progress.last ? percent(progress.last.right / progress.last.of) : "–");
    set("last-words", progress.last ? `of the guesses right, before your last ${progress.last.of} answers (${interval(progress.last)})` : "of the guesses right, before your answers");
    set("random", progress.random ? percent(progress.random.right / progress.random.of) : "–");
    set("random-words", progress.random ? `of ${progress.random.of} right that were drawn at random (${interval(progress.random)})` : "the same for samples drawn at random");
    set("changed", news.changed === null ? "–" : percent(news.changed));
    set("pace", progress.seconds === null ? "–" : progress.seconds.toFixed(1));
    set("gained", progress.gained === null ? "–" : (progress.gained < 0 ? "−" : "+") + Math.abs(progress.gained).toFixed(0));
    byId("advice").hidden = !progress.advice;
    if (progress.advice) set("advice", `${progress.advice} You may stop, or go on.`);
    set("fit", news.fitting ? "The model is learning…" : news.refit ? `Refit ${news.refit}: ${news.fit_labels} labels, ${news.fit_seconds.toFixed(1)} seconds.` : news.ready ? "No model yet: label two classes." : "Reading the samples…");
    drawShares(progress.classes);
    drawRefits(progress.refits);
  };
  const drawShares = (counts) => {
    const most = Math.max(1, ...counts.map(([, count]) => count));
    byId("shares").replaceChildren(
      ...counts.flatMap(([name, count]) => {
        const bar = make("i");
        bar.style.width = `${(100 * count) / most}%`;
        return [make("span", { class: "name", title: name }, cut(name, 24)), make("span", { class: "bar" }, bar), make("span", {}, String(count))];
      }),
    );
  };
  const drawRefits = (refits) => {
    const known = refits.filter(([, share]) => share !== null);
    byId("refits").hidden = known.length < 2;
    if (known.length < 2) return;
    const space = "http://www.w3.org/2000/svg";
    const svg = byId("refits").querySelector("svg");
    const most = Math.max(0.02, ...known.map(([, share]) => share));
    const bars = known.map(([labels, share], at) => {
      const wide = 300 / known.length;
      const bar = document.createElementNS(space, "rect");
      const height = Math.max(1, (60 * share) / most);
      const attributes = { x: at * wide, y: 62 - height, width: Math.max(1, wide * 0.8), height, fill: "currentColor" };
      for (const [name, value] of Object.entries(attributes)) bar.setAttribute(name, value);
      const title = document.createElementNS(space, "title");
      title.textContent = `${labels} labels: ${percent(share)}`;
      bar.append(title);
      return bar;
    });
    svg.replaceChildren(...bars);
    svg.setAttribute("aria-label", `Share of predictions changed by each refit; the last: ${percent(known[known.length - 1][1])}`);
  };

  const hear = (fresh) => {
    const before = news;
    news = fresh;
    /* Classes that wait to be sent stay on the page. */
    for (const entry of outbox) {
      for (const one of entry.answers || []) {
        const label = one.verdict.label;
        if (label !== undefined && !news.classes.includes(label)) {
          news.classes.push(label);
          news.progress.classes.push([label, 0]);
        }
      }
    }
    drawProgress();
    drawClasses();
    byId("again-count").hidden = !news.again;
    byId("again-count").textContent = news.again || "";
    byId("again-count").setAttribute("aria-label", `, ${news.again} labels`);
    if (news.note) tellProblem(news.note);
    if (before && (before.refit !== news.refit || before.ready !== news.ready)) {
      stale = true;
      ended = false;
      sync();
    }
  };

  const listen = () => {
    const events = new EventSource(`/events?token=${token}`);
    events.onmessage = (event) => {
      const back = !online;
      online = true;
      hear(JSON.parse(event.data));
      if (back) sync();
      saySaved();
    };
    events.onerror = () => {
      online = false;
      saySaved();
      /* The browser tries again by itself unless the server refused. */
      if (events.readyState === EventSource.CLOSED) setTimeout(listen, 1500);
    };
  };

  /* Keys. */
  const tools = {
    guess: () => {
      guessSeen = shown !== null;
      sayGuess();
    },
    skip: () => answer("skipped"),
    unusable: () => answer("unusable"),
    undo: () => turn("undo"),
    redo: () => turn("redo"),
    back: () => walk(-1),
    forth: () => walk(1),
  };
  /* What a key does with a sample; whether it does anything. */
  const press = (key) => {
    if (turning) {
      keysWaiting.push(key);
      return true;
    }
    const label = classOf(key.toLowerCase());
    if (key === "undo" || key === "redo") turn(key);
    else if (key === " ") tools.skip();
    else if (key === "Enter") {
      if (!guessSeen || !shown || !shown.guess) return false;
      answer({ label: shown.guess.label });
    } else if (key === "ArrowLeft") tools.back();
    else if (key === "ArrowRight") tools.forth();
    else if (key.toLowerCase() === "g") tools.guess();
    else if (key.toLowerCase() === "x") tools.unusable();
    else if (label !== undefined) answer({ label });
    else return false;
    return true;
  };
  const moveInGrid = (key) => {
    const buttons = [...byId("grid-list").querySelectorAll("button")];
    const at = buttons.indexOf(document.activeElement);
    if (at < 0) return false;
    const top = buttons[0].getBoundingClientRect().top;
    const across = buttons.filter((button) => Math.abs(button.getBoundingClientRect().top - top) < 2).length;
    const by = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -across, ArrowDown: across }[key];
    if (by === undefined) return false;
    buttons[at + by]?.focus();
    return true;
  };
  addEventListener("keydown", (event) => {
    const { key, target } = event;
    if (byId("help").open) return;
    const typing = target.matches("input, select, textarea");
    if (typing) {
      if (target.id === "find" && key === "Enter" && !event.repeat) pickFound(false);
      if (target.id === "find" && key === "Escape") {
        target.value = "";
        drawClasses();
        target.blur();
      }
      return;
    }
    const command = event.ctrlKey || event.metaKey;
    if (command && key.toLowerCase() === "z" && !event.altKey) {
      event.preventDefault();
      if (!event.repeat) turn(event.shiftKey ? "redo" : "undo");
      return;
    }
    if (command && key.toLowerCase() === "y") {
      event.preventDefault();
      if (!event.repeat) turn("redo");
      return;
    }
    if (command || event.altKey) return;
    if (key === "?") {
      byId("help").showModal();
      event.preventDefault();
      return;
    }
    if (key.toLowerCase() === "u" && (view === "one" || view === "grid")) {
      if (!event.repeat) turn("undo");
      return;
    }
    if (view === "grid") {
      const onTile = target.closest("#grid-list");
      if (key === "Enter" && (onTile || target === document.body)) {
        event.preventDefault();
        if (!event.repeat) confirmGrid();
      } else if (moveInGrid(key)) event.preventDefault();
      return;
    }
    if (view !== "one") return;
    if (key === "/") {
      byId("find").focus();
      event.preventDefault();
      return;
    }
    /* A button that has the focus keeps its own keys. */
    if (target.matches("button, a, summary") && (key === " " || key === "Enter")) return;
    if (event.repeat) {
      if (key === " " || key.startsWith("Arrow")) event.preventDefault();
      return;
    }
    if (press(key)) event.preventDefault();
  });

  for (const button of document.querySelectorAll("[data-do]")) {
    button.addEventListener("click", (event) => {
      tools[button.dataset.do]();
      if (event.detail > 0) button.blur();
    });
  }
  for (const button of document.querySelectorAll("[data-view]")) {
    button.addEventListener("click", (event) => {
      goTo(button.dataset.view);
      if (event.detail > 0) button.blur();
    });
  }
  for (const button of document.querySelectorAll("[data-leave]")) {
    button.addEventListener("click", async () => {
      const place = button.parentElement.querySelector("[role=status]");
      place.className = "soft";
      place.textContent = button.dataset.leave === "report" ? "Comparing with other methods; this takes some fits…" : "Writing…";
      button.disabled = true;
      try {
        const { path } = await ask("/leave", { what: button.dataset.leave });
        place.className = "good";
        place.textContent = `Written to ${path}`;
      } catch (error) {
        place.className = "wrong";
        place.textContent = error.status ? error.message : "No connection.";
      }
      button.disabled = false;
    });
  }
  byId("find").addEventListener("input", drawClasses);
  byId("help-open").addEventListener("click", () => byId("help").showModal());
  byId("grid-class").addEventListener("change", () => showGrid().then(() => byId("grid-class").blur()));
  byId("grid-confirm").addEventListener("click", confirmGrid);
  byId("grid-undo").addEventListener("click", () => turn("undo"));
  byId("copy").addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(byId("command").textContent);
      byId("copy").textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(byId("command"));
    }
  });
  addEventListener("online", sync);
  addEventListener("resize", () => view === "one" && shown && show());

  const begin = async () => {
    try {
      facts = await ask("/state");
      const { samples } = await ask("/history");
      done = samples.map((sample) => ({ sample }));
    } catch (error) {
      online = false;
      saySaved();
      if (error.status === 403) tellProblem(error.message);
      else setTimeout(begin, 1000);
      return;
    }
    document.title = `${facts.title}: label`;
    byId("title").textContent = facts.title;
    byId("title").title = `${facts.person}, ${facts.journal}`;
    byId("journal").textContent = facts.journal;
    byId("command").textContent = facts.command || "";
    byId("again-by-command").hidden = !facts.command;
    document.querySelector("[data-leave=report]").parentElement.hidden = !facts.reports;
    byId("leave-folder").hidden = facts.kind !== "image";
    outbox = kept();
    hear(facts.news);
    listen();
    await sync();
    show();
  };
  begin();
})();
