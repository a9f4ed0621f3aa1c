// Reports how visitors fill in the forms of a page; README.md, one folder up, has its attributes.
// The collector serves it without comments, indentation and most line ends, so a comment has a line of its own,
// and no text goes on over the end of a line.
(() => {
  const { src, dataset } = document.currentScript;
  const { consent, respect, writeKey } = dataset;
  // Calls before the consent are dropped: nothing is kept that the visitor may refuse.
  const idle = (window.formrevenue = () => {});
  idle.consent = idle;
  if (
    (/dnt/.test(respect) && navigator.doNotTrack == 1) ||
    (/gpc/.test(respect) && navigator.globalPrivacyControl)
  )
    return;

  const start = () => {
    // A page may ask twice.
    if (window.formrevenue != idle) return;

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
    // The attribute of orders that the import reads.
    if (isNew && window.Shopify)
      fetch("/cart/update.js", {
        method: "POST",
        body: new URLSearchParams({ "attributes[_visitor_id]": visitor }),
      });

    let batch = [];
    const send = (event) => {
      const sent = batch;
      const url = new URL("v1/b", src);
      const body = JSON.stringify({ batch, sentAt: new Date(), writeKey });
      batch = [];
      if (sent[0] && !(event && navigator.sendBeacon(url, body)))
        fetch(url, { method: "POST", body, keepalive: true })
          .catch(() => ({ status: 503 }))
          .then(({ status }) => {
            // Too many requests, or trouble there: they go with the next ones, or as the page is left.
            if (status > 428) batch = [...sent, ...batch].slice(-100);
          });
    };
    // The last of a page that a browser surely tells, also when it is closed or left.
    addEventListener("visibilitychange", send);

    // A session of a form ends when the visitor goes to another path of the site.
    const sessions = {};
    const sessionOf = (id) => {
      const path = location.pathname;
      if (sessions[id]?.path != path) sessions[id] = { path, id: newId(), steps: [] };
      return sessions[id];
    };
    const track = (window.formrevenue = (event, properties) => {
      batch.push({
        event,
        messageId: newId(),
        anonymousId: visitor,
        timestamp: new Date(),
        properties: { form_session_id: sessionOf(properties.form_id).id, ...properties },
        context: { campaign },
      });
      setTimeout(send, 1000);
    });
    track.consent = idle;
    // All but answers once in a session.
    const report = ({ dataset }, event, properties = {}) => {
      const session = sessionOf(dataset.form);
      const key = event + [properties.step_id];
      if (!session[key] || properties.field_id)
        track("Form " + event, { form_id: dataset.form, form_name: dataset.formName, ...properties });
      session[key] = 1;
    };
    const complete = (form, end) =>
      sessionOf(form.dataset.form)
        .steps.slice(0, end)
        .forEach((step) => report(form, "Step Completed", step));

    const formOf = (element) => element.closest("[data-form]");
    const stepsOf = (form) => [...form.querySelectorAll("[data-step]")];
    const shown = new WeakSet();
    const view = (form) => {
      report(form, "Viewed");
      let first;
      stepsOf(form).forEach((element, position) => {
        if (!shown.has(element)) return;
        const { step, stepName, stepIndex = position } = element.dataset;
        const properties = { step_id: step, step_name: stepName, step_index: +stepIndex };
        sessionOf(form.dataset.form).steps[stepIndex] = properties;
        report(form, "Step Viewed", properties);
        // The visitor has left those before the first that is shown.
        first ||= complete(form, stepIndex) || 1;
      });
    };
    const observer = new IntersectionObserver(
      (entries) => {
        for (const { target, intersectionRatio } of entries) {
          shown[intersectionRatio < 0.5 ? "delete" : "add"](target);
          const form = formOf(target);
          const isViewed = sessionOf(form?.dataset.form).Viewed;
          setTimeout(() => (isViewed || shown.has(form)) && view(form), isViewed || 1000);
        }
      },
      { threshold: 0.5 },
    );

    const types = {
      radio: "choice",
      "select-one": "choice",
      "select-multiple": "multi_choice",
      checkbox: "boolean",
      range: "scale",
    };
    const answer = (form, { name, type, value, checked, selectedOptions }, fieldType) => {
      const group = `[name="${name}"]`;
      fieldType ||=
        form.querySelectorAll(group + "[type=checkbox]")[1] ? "multi_choice" : types[type] || type;
      if (fieldType == "multi_choice")
        value = Array.from(
          selectedOptions || form.querySelectorAll(group + ":checked"),
          (option) => option.value,
        );
      else if (type == "checkbox") value = checked;
      // The text itself stays in the browser.
      else if (!/choice|scale|boolean/.test(fieldType)) value &&= 1;
      if (name && value !== "")
        report(form, "Question Answered", { field_id: name, field_type: fieldType, value });
    };
    const handle = ({ type, target }) => {
      if (target.shadowRoot) scan(target.shadowRoot);
      const form = formOf(target);
      if (!form) return;
      view(form);
      report(form, "Started");
      if (type == "change")
        answer(form, target, target.closest("[data-field-type]")?.dataset.fieldType);
      if (type != "submit") return;
      const email = target.querySelector("[type=email]")?.value;
      if (email) report(form, "Subscribed", { email });
      // A submit before the last step only leads to the next one.
      if (stepsOf(form).pop()?.checkVisibility() == false) return;
      complete(form);
      report(form, "Completed");
    };

    let scanning;
    const scan = (root) => {
      scanning = 0;
      if (!shown.has(root)) {
        shown.add(root);
        for (const name of ["input", "change", "submit"]) root.addEventListener(name, handle, true);
        new MutationObserver(() => {
          scanning ||= setTimeout(scan, 100, document);
        }).observe(root, { childList: true, subtree: true, attributeFilter: ["data-step"] });
      }
      for (const element of root.querySelectorAll("*")) {
        if (element.shadowRoot) scan(element.shadowRoot);
        if (element.matches("[data-form],[data-step]")) {
          observer.unobserve(element);
          observer.observe(element);
        }
      }
    };
    scan(document);
  };
  if (consent == null) start();
  else idle.consent = start;
})();
