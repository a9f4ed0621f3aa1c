// Reports how visitors fill in the forms of a page; README.md, one folder up, has its attributes.
// The collector serves it smaller; minify.py, there too, says which language it is written in.
(() => {
  const { src, dataset } = document.currentScript;
  const { consent, respect, writeKey } = dataset;
  // No error of ours is the page's.
  const safe =
    (run) =>
    (...args) => {
      try {
        return run(...args);
      } catch {}
    };
  // A page that has the line twice counts once; so does one with a frame that has it too.
  for (const page of [window, parent])
    if (safe(() => (window.formrevenue = page.formrevenue).consent)()) return;

  // Calls before the consent are dropped: nothing is kept that the visitor may refuse.
  let track = () => {};
  const own = (window.formrevenue = safe((...call) => track(...call)));
  own.consent = track;
  if (
    (/dnt/.test(respect) && navigator.doNotTrack == 1) ||
    (/gpc/.test(respect) && navigator.globalPrivacyControl)
  )
    return;

  let starts = 0;
  const start = safe(() => {
    // A page may ask twice.
    if (starts++) return;
    const newId = () => crypto.getRandomValues(new Uint32Array(4)).join("");
    // The instant in it ends it.
    let visitor = Date.now() + "." + newId();
    let query = location.search;
    let isNew;
    if (dataset.visitor != "none")
      // Storage can be forbidden or full.
      try {
        const { formrevenue } = localStorage;
        // 13 months. An instant ahead is a clock's that was wrong.
        if (Math.abs(Date.now() - parseInt(formrevenue)) < 34e9) visitor = formrevenue;
        localStorage.formrevenue = visitor;
        isNew = !sessionStorage.formrevenue;
        if (isNew || /utm_/.test(query)) sessionStorage.formrevenue = query || "?";
        query = sessionStorage.formrevenue;
      } catch {}
    const campaign = {};
    for (const [name, value] of new URLSearchParams(query))
      if (/utm_/.test(name)) campaign[name.slice(4).replace("campaign", "name")] = value;
    // A page may have replaced fetch by what throws, or answers nothing.
    const post = (url, body) =>
      new Promise((done) => done(fetch(url, { method: "POST", body, keepalive: true })));
    // The attribute of orders that the import reads.
    if (isNew && window.Shopify)
      post("/cart/update.js", new URLSearchParams({ "attributes[_visitor_id]": visitor })).catch(track);

    let batch = [];
    const send = safe((event) => {
      const sent = batch;
      const url = new URL("v1/b", src);
      const body = JSON.stringify({ batch, sentAt: new Date(), writeKey });
      batch = [];
      if (sent[0] && !(event && safe(() => navigator.sendBeacon(url, body))()))
        post(url, body)
          .then(({ status }) => {
            if (status > 428) throw status;
          })
          // Too many requests, or trouble there: they go with the next ones, or as the page is left.
          .catch(() => {
            batch = [...sent, ...batch].slice(-100);
          });
    });
    const listen = (target, name, run) => safe(() => target.addEventListener(name, safe(run), true))();
    // The last of a page that a browser surely tells, also when it is closed or left.
    for (const name of ["visibilitychange", "pagehide"]) listen(window, name, send);

    // A showing of a form to the visitor, its session: the page as it was loaded, and a path of the site.
    const sessions = {};
    const sessionOf = (id) => (sessions[[location.pathname, id]] ||= { id: newId(), steps: [] });
    track = (event, properties) => {
      batch.push({
        event,
        messageId: newId(),
        anonymousId: visitor,
        timestamp: new Date(),
        properties: { form_session_id: sessionOf(properties.form_id).id, ...properties },
        context: { campaign, page: { path: location.pathname } },
      });
      setTimeout(send, 1000);
    };
    const names = {};
    const left = {};
    // All but answers once in a session.
    const report = (id, event, properties = {}) => {
      const session = sessionOf(id);
      const key = event + [properties.step_id, properties.discount_code];
      if (!id || left[id]) return;
      if (event != "Viewed") report(id, "Viewed");
      if (!session[key] || properties.field_id)
        track("Form " + event, { form_id: id, form_name: names[id], ...properties });
      session[key] = session[event] = 1;
    };
    const complete = (id, end) =>
      sessionOf(id)
        .steps.slice(0, end)
        .forEach((step) => report(id, "Step Completed", step));
    // A step that has no place in the page: its place is the turn in which the visitor came to it.
    const step = (id, step_id, done = 0) => {
      const { steps } = sessionOf(id);
      const known = steps.findIndex((each) => each.step_id == step_id);
      const step_index = known < 0 ? steps.length : known;
      steps[step_index] = { step_id, step_name: step_id, step_index };
      report(id, "Step Viewed", steps[step_index]);
      complete(id, step_index + done);
    };
    const submit = (id, email, discount_code) => {
      report(id, "Started");
      email ||= sessionOf(id).email;
      if (email) report(id, "Subscribed", { email, discount_code });
    };
    const finish = (id, discount_code) => {
      complete(id);
      report(id, "Completed", { discount_code });
    };

    // Fields of a form hide its properties of their names: they are asked for beside it.
    const { checkVisibility, closest, getAttribute, matches, querySelectorAll } = Element.prototype;
    const find = (element, selector) => [...querySelectorAll.call(element, selector)];
    const attribute = (element, name) => getAttribute.call(element, name);
    const property = (element, name) => Reflect.get(Element.prototype, name, element);
    const textOf = (element) => element?.textContent.trim().replace(/\s+/g, " ").slice(0, 80);
    // A frame that nobody sees has pages in which all is visible.
    const isVisible = (element) =>
      checkVisibility.call(element, { checkOpacity: true, checkVisibilityCSS: true }) &&
      !trail(element)
        .slice(1)
        .some((each) => each.localName == "iframe" && !isVisible(each));
    // An element and those around it, also around its shadow root and its frame.
    const trail = (element) => {
      const node = property(element, "parentNode");
      const next = node?.host || safe(() => node.defaultView.frameElement)() || node;
      return [element, ...(next?.localName ? trail(next) : [])];
    };

    const like = (names, words) =>
      names.split(" ").flatMap((name) => words.split(" ").map((word) => "[" + name + "*='" + word + "' i]"));
    const contact = (type, word) =>
      like("type", type) +
      ",input:is([type=text],:not([type])):is(" +
      like("name id placeholder autocomplete aria-label", word) +
      ")";
    const emailFields = contact("email", "mail");
    const contactFields = emailFields + "," + contact("tel", "phone");
    // The fields of a form that searches, logs in or checks out.
    const others = [
      "[type=password],[type=search],[role=search],[name=q]",
      ...like("name autocomplete", "one-time cc- street address1 cardn"),
      ...like("action value", "login signin checkout /cart"),
    ].join();
    // Ids that a framework or a build has made: of React, of six hexadecimal digits.
    const isMade = (id) => /:r|«|_r_|(?=[a-f]*\d)[\da-f]{6}/i.test(id);
    const givenId = (element) =>
      ["id", "name"].map((name) => attribute(element, name)).find((id) => id && !isMade(id));

    const tools = [];
    const ids = new WeakMap();
    const owners = {};
    const toolOf = (form) => tools.find(({ forms }) => matches.call(form, forms));
    const formOf = (element) =>
      tools.map(({ forms }) => closest.call(element, forms)).find(Boolean) ||
      closest.call(element, "form,[data-form]");
    const markOf = (form) =>
      trail(form)
        .map((element) => attribute(element, "data-form"))
        .find(Boolean);
    // A mark of its fields and of its place, which a new build of the page keeps.
    const fingerprint = (form) => {
      const marks = find(form, "input:not([type=hidden]),select,textarea").map(
        ({ type, name }) => type + (isMade(name) ? "" : name),
      );
      for (const element of trail(form).slice(1))
        if (element.matches("body :is([id],:not(div,span))")) marks.push(element.localName, givenId(element));
      let hash = 7;
      for (const sign of marks.join()) hash = (Math.imul(hash, 31) + sign.codePointAt()) >>> 0;
      const base = "form-" + hash.toString(36);
      let id = base;
      // Two may be alike in one place: the second is another.
      for (let turn = 2; owners[id] && property(owners[id], "isConnected"); turn++) id = base + "-" + turn;
      owners[id] = form;
      return id;
    };
    const nameOf = (form) => {
      const named = closest.call(form, "[data-form-name]");
      if (named) return attribute(named, "data-form-name");
      const titles = "h1,h2,h3,h4,h5,h6";
      let title = find(form, titles)[0];
      // The last before it, in the least part of the page that has one and no other form.
      for (const element of trail(form))
        if (!title && !find(element, "form")[1])
          title = find(element, titles)
            .filter((each) => each.compareDocumentPosition(form) & 4)
            .pop();
      return (
        textOf(title) ||
        attribute(form, "aria-label") ||
        textOf(find(form, "legend,label").find(textOf)) ||
        textOf(find(form, "button").find(textOf))
      );
    };
    // undefined: it is none of ours.
    const idOf = (form) => {
      const mark = form && markOf(form);
      let id = form && toolOf(form)?.idOf((name) => attribute(form, name));
      if (mark == "off") left[id] = 1;
      if (!form || mark == "off") return;
      id ||= mark || ids.get(form);
      if (!id && find(form, contactFields)[0] && !matches.call(form, others) && !find(form, others)[0])
        id = givenId(form) || fingerprint(form);
      if (id && ids.get(form) != id) {
        ids.set(form, id);
        names[id] ||= nameOf(form);
      }
      return id;
    };

    const stepsOf = (form) => {
      const marked = find(form, "[data-step]");
      if (marked[0]) return marked;
      const sets = find(form, "fieldset:not(fieldset fieldset)");
      // They are steps where they are shown in turn.
      return !sets[1] || sets.filter(isVisible)[1] ? marked : sets;
    };
    // Elements of which half is in view, and how often they were seen there in a row.
    const half = new Map();
    const view = (form, id) => {
      report(id, "Viewed");
      let first;
      stepsOf(form).forEach((element, position) => {
        if (!half.has(element) || !isVisible(element)) return;
        const { step: mark, stepName, stepIndex = position } = element.dataset;
        const properties = {
          step_id: mark || givenId(element) || "" + position,
          step_name: stepName || textOf(find(element, "legend")[0]),
          step_index: +stepIndex,
        };
        sessionOf(id).steps[stepIndex] = properties;
        report(id, "Step Viewed", properties);
        // The visitor has left those before the first that is shown.
        first ||= complete(id, stepIndex) || 1;
      });
    };
    const glance = (element) => {
      const form = formOf(element);
      const id = idOf(form);
      // Three looks in a row are half a second.
      if (id && (sessionOf(id).Viewed || (element == form && half.get(form) > 2))) view(form, id);
    };
    const observer = new IntersectionObserver(
      safe((entries) => {
        for (const { target, intersectionRatio } of entries) {
          if (intersectionRatio < 0.5) half.delete(target);
          else half.set(target, 0);
          glance(target);
        }
      }),
      { threshold: 0.5 },
    );

    const types = {
      radio: "choice",
      "select-one": "choice",
      "select-multiple": "multi_choice",
      checkbox: "boolean",
      range: "scale",
    };
    const answer = (form, id, { name, type, value, checked, selectedOptions }, fieldType) => {
      const group = "[name=" + CSS.escape(name) + "]";
      // A field in which visitors type, whatever the page calls it: the text stays in the browser.
      if (!types[type] && (!fieldType || type != "hidden")) [fieldType, value] = [type, value && 1];
      fieldType ||= find(form, group + "[type=checkbox]")[1] ? "multi_choice" : types[type] || type;
      if (fieldType == "multi_choice")
        value = Array.from(selectedOptions || find(form, group + ":checked"), (option) => option.value);
      else if (type == "checkbox") value = checked;
      if (name && value !== "")
        report(id, "Question Answered", { field_id: name, field_type: fieldType, value });
    };

    const codes = "[data-discount-code]";
    const told = new WeakSet();
    let ended;
    const codeOf = (element) => element && attribute(element, "data-discount-code");
    const end = (form, id, email) => {
      const code = codeOf(closest.call(form, codes) || find(form, codes)[0]);
      const root = property(form, "parentNode").getRootNode();
      root.querySelectorAll(codes).forEach((element) => isVisible(element) && told.add(element));
      ended = [form, id, root];
      submit(id, email, code);
      // A submit before the last step only leads to the next one.
      const last = stepsOf(form).pop();
      if (!last || isVisible(last)) finish(id, code);
    };
    // A code that is shown since a form was sent, and in no other form.
    const tellCodes = () => {
      const [form, id, root] = ended;
      for (const element of root.querySelectorAll(codes))
        if (!told.has(element) && isVisible(element) && [null, form].includes(formOf(element))) {
          told.add(element);
          const event = sessionOf(id).Completed ? "Completed" : "Subscribed";
          report(id, event, { discount_code: codeOf(element) });
        }
    };

    // Scripts of tools that are on their way.
    let loading = 0;
    const handle = ({ type, target }) => {
      const shadow = property(target, "shadowRoot");
      if (shadow) scan(shadow);
      const form = formOf(target);
      if (!form) return;
      const email = find(form, emailFields).find(({ value }) => /.@./.test(value))?.value;
      const tell = safe(() => {
        const own = formOf(target);
        const id = idOf(own);
        if (!id) return;
        view(own, id);
        report(id, "Started");
        if (type == "change")
          answer(own, id, target, target.closest("[data-field-type]")?.dataset.fieldType);
        if (type != "submit" || find(own, "input:invalid").some(isVisible)) return;
        // A tool says itself what it has taken.
        if (toolOf(own)) sessionOf(id).email = email;
        else end(own, id, email);
      });
      const wait = () => (loading ? setTimeout(wait, 100) : tell());
      wait();
    };

    const hosts = {
      klaviyo: /klaviyo\./,
      hubspot: /hsforms|hs-scripts/,
      typeform: /typeform\./,
      optinmonster: /omapp|op.?mnstr/,
    };
    const page = {
      listen,
      report,
      step,
      submit,
      finish,
      // Whether a message is of the page itself, or of a host of the tool.
      isFrom: ({ origin }, tool) => origin == location.origin || tool.test(new URL(origin).host),
    };
    const load = (name) => {
      delete hosts[name];
      loading++;
      import(new URL("tools/" + name + ".js", src))
        .then(({ default: tool }) => {
          tools.push(tool);
          tool.hear(page);
        })
        .catch(() => {})
        .then(() => {
          loading--;
          changed = 1;
        });
    };

    const known = new WeakSet();
    let changed;
    const scanFrame = (frame) => {
      const other = safe(() => frame.contentWindow.formrevenue)();
      const root = safe(() => frame.contentDocument)();
      if (root && (!other?.consent || other == own)) scan(root);
    };
    const scan = (root) => {
      if (!known.has(root)) {
        known.add(root);
        for (const name of ["input", "change", "submit"]) listen(root, name, handle);
        listen(root, "load", ({ target }) => scanFrame(target));
        new MutationObserver(() => (changed = 1)).observe(root, { childList: true, subtree: true });
      }
      for (const element of root.querySelectorAll("script,iframe")) {
        for (const name in hosts) if (hosts[name].test(element.src)) load(name);
        scanFrame(element);
      }
      // Most elements of a page are such as can have no shadow root.
      for (const { shadowRoot } of root.querySelectorAll(":not(form,a,b,i,img,li,svg *)")) if (shadowRoot) scan(shadowRoot);
      for (const element of root.querySelectorAll(["form,[data-form]", ...tools.map(({ forms }) => forms)])) {
        const form = formOf(element);
        if (idOf(form)) [form, ...find(form, "[data-step],fieldset")].forEach((each) => observer.observe(each));
      }
    };
    let path;
    let turn = 0;
    const look = () => {
      // An element that gets a shadow root later tells nobody.
      if (changed || turn++ % 8 == 0) {
        changed = 0;
        scan(document);
      }
      if (loading) return;
      for (const [element, times] of half) {
        const isSeen = path == location.pathname && !document.hidden && isVisible(element);
        half.set(element, isSeen ? times + 1 : 0);
        if (isSeen) glance(element);
      }
      path = location.pathname;
      if (ended) tellCodes();
    };
    // The page may go on before it is looked at.
    setTimeout(safe(look));
    setInterval(safe(look), 250);
  });
  if (consent == null) start();
  else own.consent = start;
})();
