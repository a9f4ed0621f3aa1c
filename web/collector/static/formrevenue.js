// Reports how visitors fill in the forms of a page; README.md, one folder up, has its attributes and its rules.
// `make line` makes it small: what the collector serves is in `built/`.
(() => {
  // No error of ours is the page's.
  const safe =
    (run) =>
    (...args) => {
      try {
        return run(...args);
      } catch {}
    };
  // Elements with a name hide properties of the document, and fields those of their form: both are asked for
  // beside it, so that no markup of a stranger answers in their place.
  const of = (type, name, node) => Reflect.get(type.prototype, name, node);
  const property = (node, name) => of(Element, name, node);
  const find = (node, selector) => {
    const kind = property(node, "nodeType");
    const type = kind == 1 ? Element : kind == 9 ? Document : DocumentFragment;
    return [...type.prototype.querySelectorAll.call(node, selector)];
  };
  const say = (sentence) => console.warn("formrevenue: " + sentence);
  const listen = (target, name, run) =>
    safe(() => EventTarget.prototype.addEventListener.call(target, name, run, true))();

  safe(() => {
    // A page that has the line twice counts once; so does one with a frame that has it too.
    for (const page of [window, parent]) {
      const other = safe(() => page.formrevenue)();
      if (typeof other == "function" && other.consent) {
        window.formrevenue = other;
        return;
      }
    }

    // A module, and what a loader evaluates, has no current script.
    const current = of(Document, "currentScript", document);
    const script =
      [current, ...find(document, "script")].find(
        (each) => each && (each.dataset.writeKey || /\/formrevenue\.js/.test(each.src)),
      ) || current;
    const loaded = () => [Error().stack, ...performance.getEntriesByType("resource").map(({ name }) => name)];
    const src = script?.src || /https?:\S+?\/formrevenue\.js[^\s:)]*/.exec(safe(loaded)())?.[0];
    const query = new URLSearchParams(src?.split("?")[1]);
    const option = (name) => script?.dataset[name] ?? query.get(name);
    const given = window.formrevenueKey;
    const writeKey = option("writeKey") || query.get("key") || (typeof given == "string" && given);

    // Calls before the consent are dropped: nothing is kept that the visitor may refuse.
    let agreed = option("consent") == null;
    let early = [];
    let track = (...call) => agreed && early.push(call);
    const own = (window.formrevenue = safe((...call) => track(...call)));
    own.consent = safe(() => {
      agreed = true;
      begin();
    });
    if (
      (/dnt/.test(option("respect")) && navigator.doNotTrack == 1) ||
      (option("gpc") != "off" && navigator.globalPrivacyControl)
    ) {
      track = () => {};
      own.consent = track;
      return;
    }
    if (!src) return say("the page does not say where the collector is; load formrevenue.js by a script with src.");
    if (!writeKey)
      say(
        "nothing is counted, since the line has no write key; add data-write-key, or ?key= to its address, or " +
          "set window.formrevenueKey before it.",
      );

    // Shopify knows who has agreed, where its API is on the page.
    const shopify = safe(() => (Shopify.nodeType ? {} : Shopify));
    const isAllowed = safe(() => {
      const api = shopify()?.customerPrivacy;
      const ask = api && (api.analyticsProcessingAllowed || api.userCanBeTracked);
      return typeof ask != "function" || ask.call(api);
    });
    let isReady;
    let starts = 0;
    let batch = [];
    let storage = {};
    const begin = safe(() => {
      if (!isReady || !agreed || !isAllowed()) {
        early = batch = [];
        // Who withdraws is forgotten here.
        if (starts) for (const name of STORED) safe(() => storage.removeItem(name))();
      } else if (!starts++) {
        start();
        for (const call of early) own(...call);
      }
    });
    const STORED = ["formrevenue", "formrevenueVisit", "formrevenueCart"];
    const begins = safe(() => {
      const load = shopify()?.loadFeatures;
      const ready = (error) => {
        isReady = !error;
        begin();
      };
      if (typeof load == "function" && !shopify().customerPrivacy)
        load.call(shopify(), [{ name: "consent-tracking-api", version: "0.1" }], ready);
      else ready();
    });
    listen(document, "visitorConsentCollected", begin);

    const newId = () => crypto.getRandomValues(new Uint32Array(4)).join("");
    const start = () => {
      const now = Date.now();
      // The instant in it ends it.
      let visitor = now + "." + newId();
      // Storage can be forbidden or full.
      if (option("visitor") != "none") storage = safe(() => localStorage)() || storage;
      const store = (name, value) => safe(() => (storage[name] = value))();
      // 13 months. An instant ahead is a clock's that was wrong.
      if (Math.abs(now - parseInt(storage.formrevenue)) < 34e9) visitor = storage.formrevenue;
      store("formrevenue", visitor);
      const stored = () => safe(() => JSON.parse(storage.formrevenueVisit))() || {};
      const { at, landing } = stored();
      const search = new URLSearchParams(location.search);
      let campaign = {};
      for (const name of ["source", "medium", "campaign", "term", "content", "id"]) {
        const value = search.getAll("utm_" + name).find(Boolean);
        if (value) campaign[name == "campaign" ? "name" : name] = value;
      }
      // What an ad platform adds to an address, as the source that providers of ad spend have.
      for (const [name, source, medium] of [
        ["gclid", "google", "cpc"],
        ["msclkid", "bing", "cpc"],
        ["ttclid", "tiktok", "paid"],
        ["fbclid", "facebook", "social"],
      ])
        if (search.get(name) && !campaign.source) campaign = { medium, ...campaign, source };
      // A visit ends after half an hour. Payment providers send back with `utm_nooverride=1`.
      const isVisit = Math.abs(now - at) < 18e5;
      if (isVisit && landing && (!Object.keys(campaign)[0] || search.get("utm_nooverride") == 1))
        campaign = landing;
      store("formrevenueVisit", JSON.stringify({ at: now, landing: campaign }));

      // A page may have replaced fetch by what throws, or answers nothing. What outlives its page may have
      // 64 kB, and a character up to three bytes.
      const post = (url, body) =>
        new Promise((done) =>
          done(fetch(url, { method: "POST", body, keepalive: !(body.length > 2e4) })),
        );
      // The attribute of orders that the import reads: once in a visit, for each cart, until it was taken.
      let isCartDue = !isVisit;
      let cartAt = 0;
      const markCart = () => {
        const token = () => /(^|; )cart=([^;]*)/.exec(of(Document, "cookie", document))?.[2] || "-";
        isCartDue ||= storage.formrevenueCart != token();
        if (!shopify() || !isCartDue || storage.formrevenue != visitor || Date.now() < cartAt) return;
        if (option("visitor") == "none") return;
        cartAt = Date.now() + 3e4;
        const root = shopify().routes?.root || "/";
        post(root + "cart/update.js", new URLSearchParams({ "attributes[_visitor_id]": visitor }))
          .then(({ ok }) => {
            if (!ok) return;
            isCartDue = cartAt = 0;
            store("formrevenueCart", token());
          })
          .catch(() => {});
      };
      const lookAtCart = safe(markCart);

      const send = safe((event) => {
        if (!isAllowed()) batch = [];
        const sent = batch;
        const url = new URL("v1/b", src);
        const body = JSON.stringify({ batch, sentAt: new Date(), writeKey: writeKey || undefined });
        batch = [];
        if (sent[0] && !(event?.type && safe(() => navigator.sendBeacon(url, body))()))
          post(url, body)
            .then(({ status }) => {
              if (status > 428) throw status;
              if (status > 400) say("the collector refuses the write key (" + status + ").");
            })
            // Too many requests, or trouble there: they go with the next ones, or as the page is left.
            .catch(() => {
              batch = [...sent, ...batch].slice(-100);
            });
      });

      // A showing of a form to the visitor, its session: the page as it was loaded, and a path of the site.
      // What a form was sent for is told of the path on which it was sent.
      let showing;
      const pathOf = () => showing || location.pathname;
      const sessions = {};
      const sessionOf = (id) => (sessions[[pathOf(), id]] ||= { id: newId(), steps: [] });
      const add = (event, properties, more) => {
        batch.push({
          event,
          messageId: newId(),
          timestamp: new Date(),
          properties,
          ...more,
          context: { ...more?.context, page: { path: pathOf() } },
        });
        setTimeout(send, 1000);
      };
      track = (event, properties) => {
        if (!writeKey) return;
        add(
          event,
          { form_session_id: sessionOf(properties.form_id).id, ...properties },
          { anonymousId: visitor, context: { campaign } },
        );
        // The visit lasts as long as the visitor does something. Another page may have landed since.
        store("formrevenueVisit", JSON.stringify({ ...stored(), at: Date.now() }));
      };
      // What the line sees and cannot count, for the people who set the shop up; ten a page at most.
      const found = new Set();
      const note = (finding, what) => {
        const key = finding + what;
        if (found.size > 9 || found.has(key)) return;
        found.add(key);
        add("Line Finding", { finding, what });
      };
      if (!writeKey) return note("no_key", "");

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
      // A step that was completed was seen.
      const complete = (id, end) =>
        sessionOf(id)
          .steps.slice(0, end)
          .forEach((step) => {
            report(id, "Step Viewed", step);
            report(id, "Step Completed", step);
          });
      // A step that has no place in the page: its place is the turn in which the visitor came to it.
      const step = (id, step_id, done = 0) => {
        const { steps } = sessionOf(id);
        const known = steps.findIndex((each) => each?.step_id == step_id);
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

      const { closest, getAttribute, matches, getClientRects, checkVisibility } = Element.prototype;
      const attribute = (element, name) => getAttribute.call(element, name);
      const is = (element, selector) => safe(() => matches.call(element, selector))();
      const textOf = (element) =>
        element && property(element, "textContent").trim().replace(/\s+/g, " ").slice(0, 80);
      // Also around its shadow root and its frame.
      const frameOf = safe((page) => of(Document, "defaultView", page).frameElement);
      const parentOf = (node) => {
        const next = property(node, "parentNode");
        const kind = next && property(next, "nodeType");
        return kind == 9 ? frameOf(next) : kind == 11 ? next.host : next;
      };
      const trail = (element) => {
        const line = [];
        for (let each = element; each; each = parentOf(each)) line.push(each);
        return line;
      };
      const pageOf = (element) => property(element, "ownerDocument");
      // Those around it in its own document.
      const around = (element) => trail(element).filter((each) => pageOf(each) == pageOf(element));
      const isShown = checkVisibility
        ? (element) => checkVisibility.call(element, { checkOpacity: true, checkVisibilityCSS: true })
        : (element) =>
            getClientRects.call(element)[0] &&
            getComputedStyle(element).visibility == "visible" &&
            around(element).every((each) => getComputedStyle(each).opacity != 0);
      // A frame that nobody sees has pages in which all is visible.
      const isVisible = (element) => {
        const frame = frameOf(pageOf(element));
        return isShown(element) && (!frame || isVisible(frame));
      };

      const like = (names, words) =>
        names
          .split(" ")
          .flatMap((name) => words.split(" ").map((word) => "[" + name + "*='" + word + "' i]"));
      const contact = (type, word) =>
        "input:is([type=" + type + " i],[type=text i],:not([type])):is([type=" + type + " i]," +
        like("name id placeholder autocomplete aria-label", word) +
        ")";
      const emailFields = contact("email", "mail");
      const contactFields = emailFields + "," + contact("tel", "phone");
      const FIELDS = "input,select,textarea";
      const BUTTONS = "button,[type=submit],[type=button],[type=image],[role=button],a";
      // The fields of a form that searches, logs in or checks out.
      const others = [
        "[type=password],[type=search],[role=search],[name=q]",
        ...like("name autocomplete", "one-time cc- street address1 cardn"),
        ...like("action value", "login signin checkout /cart"),
      ].join();
      // Ids that a framework or a build has made: of React, of six hexadecimal digits; and that of all forms
      // of Liquid.
      const isMade = (id) => /:r|«|_r_|^contact_form$|(?=[a-f]*\d)[\da-f]{6}/i.test(id);
      const givenId = (element) =>
        ["id", "name"].map((name) => attribute(element, name)).find((id) => id && !isMade(id));

      const tools = [];
      const ids = new WeakMap();
      // Shadow roots, and what stands for a form around fields that have none.
      const roots = new Set();
      const boxes = new WeakSet();
      const toolOf = (form) => tools.find(({ forms }) => is(form, forms));
      const ownerOf = (field) => safe(() => is(field, FIELDS + ",button") && field.form)();
      const formOf = (element) => {
        const line = around(element);
        return (
          line.find(toolOf) ||
          ownerOf(element) ||
          line.find((each) => is(each, "form,[data-form]")) ||
          line.find((each) => boxes.has(each))
        );
      };
      // All fields of a form: also those that name it elsewhere, and those of elements with a shadow root.
      const fieldsOf = (form) =>
        [
          ...(safe(() => of(HTMLFormElement, "elements", form))() || find(form, FIELDS)),
          ...[...roots]
            .filter((root) => trail(root.host).includes(form))
            .flatMap((root) => find(root, FIELDS).filter((field) => !field.form)),
        ].filter((field) => is(field, FIELDS));
      const contactsOf = (form) => fieldsOf(form).filter((field) => is(field, contactFields));
      const markOf = (form) =>
        trail(form)
          .map((element) => attribute(element, "data-form"))
          .find(Boolean);
      const hashed = (text) => {
        let hash = 7;
        for (const sign of text) hash = (Math.imul(hash, 31) + sign.codePointAt()) >>> 0;
        return hash.toString(36);
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
          textOf(find(form, BUTTONS).find(textOf)) ||
          ""
        );
      };
      // Forms by what they are called, and by what they hold and where.
      const claims = {};
      const claim = (form) => {
        const fields = contactsOf(form)
          .map(({ type, name }) => type + (isMade(name) ? "" : name))
          .join();
        // A new build of the page keeps its fields and its place.
        const place = trail(form)
          .slice(1)
          .filter((element) => is(element, "body :is([id],:not(div,span))"))
          .map((element) => element.localName + givenId(element));
        const mark = fields + "," + place;
        const name = nameOf(form);
        const given = givenId(form);
        const holder = (id) => claims[id] && property(claims[id].form, "isConnected") && claims[id];
        // A copy without the id, as sliders make it.
        const twin = mark + "\n" + name;
        if (!given && holder(twin)) return claims[twin].id;
        let id = given || "form-" + hashed(mark);
        const other = holder(id);
        // A copy of it, for phones or during a transition, has its fields and its name. Another form has not.
        if (other && (other.fields != fields || other.name != name))
          id += "-" + hashed(other.mark == mark ? twin : mark);
        claims[twin] = claims[id] = { form, id, fields, mark, name };
        return id;
      };
      // undefined: it is none of ours.
      const idOf = (form) => {
        const mark = form && markOf(form);
        let id = form && toolOf(form)?.idOf((name) => attribute(form, name));
        if (mark == "off") left[id] = 1;
        if (!form || mark == "off") return;
        id ||= mark || ids.get(form);
        if (!id && contactsOf(form)[0] && !is(form, others) && !find(form, others)[0]) id = claim(form);
        if (id && ids.get(form) != id) {
          ids.set(form, id);
          names[id] ||= nameOf(form);
        }
        return id;
      };
      // The nearest dialog, fixed box or section around a field without a form, or what has a button.
      const boxOf = (field) => {
        const line = around(field).filter((each) => !find(each, "form")[0] && !is(each, "html,body,main"));
        const sections = "dialog,[role=dialog],[aria-modal=true],section,aside,article,footer,header";
        return (
          line.find((each) => is(each, sections) || getComputedStyle(each).position == "fixed") ||
          line.find((each) => find(each, BUTTONS)[0])
        );
      };

      const stepsOf = (form) => {
        const marked = find(form, "[data-step]");
        if (marked[0]) return marked;
        const sets = find(form, "fieldset:not(fieldset fieldset)");
        // They are steps where they are shown in turn.
        return !sets[1] || sets.filter(isVisible)[1] ? marked : sets;
      };
      // Elements of which enough is in view, and since when.
      const half = new Map();
      const isSeen = (element) => performance.now() - half.get(element) >= 500;
      // `target`: what the visitor has touched in it.
      const view = (form, id, target) => {
        report(id, "Viewed");
        let first;
        stepsOf(form).forEach((element, position) => {
          const isTouched = target && trail(target).includes(element);
          if (!(isTouched || isSeen(element)) || !isVisible(element)) return;
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
        if (!form && isSeen(element)) {
          if (is(element, "iframe")) note("foreign_frame", new URL(element.src).host);
          else if (!element.shadowRoot && element.offsetHeight > 30)
            note("closed_shadow_root", element.localName);
        }
        const id = idOf(form);
        if (id && (sessionOf(id).Viewed || (element == form && isSeen(form)))) view(form, id);
      };
      const observer = new IntersectionObserver(
        safe((entries) => {
          for (const { target, intersectionRatio, intersectionRect, boundingClientRect } of entries) {
            // Half of it, or half of the screen.
            const screen = of(Document, "defaultView", pageOf(target)).innerHeight;
            const isWide = intersectionRect.width >= boundingClientRect.width / 2;
            if (intersectionRatio < 0.5 && !(isWide && intersectionRect.height >= screen / 2))
              half.delete(target);
            else if (!half.has(target)) half.set(target, performance.now());
          }
        }),
        { threshold: Array.from({ length: 101 }, (_, part) => part / 100) },
      );

      // What a field held when it was looked at, or changed, last.
      const held = new WeakMap();
      const isTicked = ({ type }) => /radio|checkbox/.test(type);
      const contentOf = (field) =>
        "" + (isTicked(field) ? field.checked : [...(field.selectedOptions || [field])].map(({ value }) => value));
      const initial = (field) =>
        "" + (isTicked(field) ? field.defaultChecked : (field.options?.[0] || field).value && field.defaultValue);
      const touched = new WeakMap();
      // A radio button may be hidden behind its label.
      const isAsked = (field) => isVisible(isTicked(field) ? parentOf(field) : field);
      const isChanged = (field) => contentOf(field) != (held.has(field) ? held.get(field) : initial(field));
      // Scripts dispatch events too. Theirs count where the visitor could see what changed, or caused it.
      const isOfVisitor = (field, form, id) =>
        Date.now() - touched.get(form) < 1000 ||
        (isAsked(field) &&
          (sessionOf(id).Viewed || [":focus", ":-webkit-autofill", ":autofill"].some((each) => is(field, each))));
      // What scripts changed in a form before it was viewed: it counts once the visitor touches the form.
      const later = new WeakMap();

      // What decides whether a form was sent: it is loaded where there is a form.
      let sending;
      let isNeeded;
      const need = () => {
        if (isNeeded) return;
        isNeeded = 1;
        load("sending.js", (make) => (sending = make(kit)));
      };
      // Scripts that are on their way, and what waits for them.
      let loading = 0;
      const waiting = [];
      const catchUp = () => waiting.splice(0).forEach((run) => run());
      const load = (name, take) => {
        loading++;
        import(new URL(name, src))
          .then((script) => take(script.default))
          .catch(() => {})
          .then(() => {
            changed = 1;
            if (!--loading) catchUp();
          });
      };
      const handled = new WeakSet();
      const handle = safe((event) => {
        if (handled.has(event)) return;
        handled.add(event);
        const { type, isTrusted } = event;
        const path = event.composedPath();
        // An element that gets a shadow root later tells nobody.
        for (const node of path.slice(0, -1)) if (node.host && property(node, "nodeType") == 11 && !known.has(node)) scan(node);
        const target = path[0];
        // The visitor types where nothing is seen.
        if (type == "input" && isTrusted && !is(target, FIELDS) && !target.isContentEditable)
          note("closed_shadow_root", target.localName);
        const form = formOf(target);
        const isInput = /input|change/.test(type);
        const isTouch = isTrusted && !/submit|formdata/.test(type);
        if (form && isTouch) touched.set(form, Date.now());
        const isFresh = isInput && (isTrusted || isChanged(target));
        const count = safe(() => {
          const own = formOf(target);
          const id = idOf(own);
          if (!id) return;
          view(own, id, target);
          report(id, "Started");
          if (type == "change")
            sending.answer(own, id, target, closest.call(target, "[data-field-type]")?.dataset.fieldType);
        });
        const run = safe(() => {
          sending?.hear(event, path);
          const own = formOf(target);
          const id = idOf(own);
          if (isTouch) (later.get(own) || []).splice(0).forEach((each) => each());
          if (!isFresh || !id) return;
          if (type == "change") held.set(target, contentOf(target));
          if (isTrusted || isOfVisitor(target, own, id)) count();
          else if (isAsked(target)) later.set(own, [...(later.get(own) || []), count]);
        });
        if (loading) waiting.push(run);
        else run();
      });

      const hosts = {
        klaviyo: /klaviyo\./,
        hubspot: /hsforms|hs-scripts/,
        typeform: /typeform\./,
        optinmonster: /omapp|op.?mnstr/,
      };
      // Frames in which no form is looked for.
      const NO_FORM = /youtu|vimeo|captcha|stripe|paypal|googletag|doubleclick|\/maps|shop\.app|hsforms|typeform|^(?!http)/;
      const page = {
        listen: (target, name, run) => listen(target, name, safe(run)),
        report,
        step,
        submit,
        finish,
        // Whether a message is of the page itself, or of a host of the tool.
        isFrom: ({ origin }, tool) => origin == location.origin || tool.test(new URL(origin).host),
      };
      const loadTool = (name) => {
        delete hosts[name];
        load("tools/" + name + ".js", (tool) => {
          tools.push(tool);
          tool.hear(page);
        });
      };

      const leave = safe((event) => {
        if (event.type == "pagehide") {
          catchUp();
          sending?.settle(true);
        }
        send(event);
      });
      const known = new WeakSet();
      let changed;
      const scanFrame = (frame) => {
        const other = safe(() => frame.contentWindow.formrevenue)();
        const root = safe(() => frame.contentDocument)();
        if (root) {
          if (typeof other != "function" || !other.consent || other == own) scan(root);
        } else if (!NO_FORM.test(frame.src)) observer.observe(frame);
      };
      // Most elements of a page are such as can have no shadow root.
      const HOSTS =
        ":not(svg *,form,a,b,i,img,li,ul,button,input,option,label,td,br,script)";
      const lookInto = (element) => {
        if (element.shadowRoot) scan(element.shadowRoot);
        // One with neither a root that is open nor content has a closed one.
        else if (!element.firstChild && element.localName.includes("-")) observer.observe(element);
      };
      const onLoad = safe(({ target }) => target.localName == "iframe" && scanFrame(target));
      const onChange = () => (changed = 1);
      const scan = (root) => {
        // A document that is written anew loses its listeners, and stays the same. A second time adds none.
        for (const name of ["input", "change", "submit", "formdata", "click", "keydown"]) listen(root, name, handle);
        listen(root, "load", onLoad);
        if (!known.has(root)) {
          known.add(root);
          if (root.host) roots.add(root);
          new MutationObserver(onChange).observe(root, { childList: true, subtree: true });
        }
        for (const element of find(root, "script,iframe")) {
          for (const name in hosts) if (hosts[name].test(element.src)) loadTool(name);
          if (element.localName == "iframe") scanFrame(element);
        }
        // A task of its own: each is short.
        setTimeout(() => find(root, HOSTS).forEach(safe(lookInto)));
        const fields = find(root, contactFields);
        for (const field of fields) if (!formOf(field)) boxes.add(boxOf(field) || field);
        const forms = new Set(
          [...find(root, ["form,[data-form]", ...tools.map(({ forms }) => forms)].join()), ...fields]
            .map(formOf)
            .filter(Boolean),
        );
        // One with an id comes before its copies that have none.
        for (const form of [...forms].sort((one, two) => !givenId(one) - !givenId(two)))
          if (idOf(form)) {
            need();
            for (const each of [form, ...find(form, "[data-step],fieldset")]) observer.observe(each);
            for (const field of fieldsOf(form)) if (!held.has(field)) held.set(field, contentOf(field));
          }
      };
      // prettier-ignore
      const kit = {
        of, property, find, is, safe, attribute, textOf, parentOf, trail, around, isVisible, isAsked, BUTTONS,
        emailFields, contactFields, fieldsOf, formOf, idOf, markOf, stepsOf, toolOf, sessionOf, report, submit,
        finish, view, touched, src,
        on: (path, run) => {
          showing = path;
          run();
          showing = "";
        },
      };
      let path;
      let turn = 0;
      const watch = safe(() => {
        if (loading) return;
        for (const element of half.keys()) {
          if (path == location.pathname && !of(Document, "hidden", document) && isVisible(element)) glance(element);
          else half.set(element, performance.now());
        }
        path = location.pathname;
        sending?.settle();
      });
      const look = safe(() => {
        if (changed || turn % 8 == 0) {
          changed = 0;
          for (const name of ["visibilitychange", "pagehide"]) listen(window, name, leave);
          scan(document);
        }
        if (turn++ % 8 == 0) lookAtCart();
        setTimeout(watch);
      });
      // The page may go on before it is looked at.
      setTimeout(look);
      setInterval(look, 250);
    };

    if (of(Document, "readyState", document) == "loading") listen(document, "DOMContentLoaded", begins);
    else setTimeout(begins);
  })();
})();
