// Decides whether a form was sent, and whose address was in it; README.md, one folder up, has the rule as a table.
// `formrevenue.js` loads it where a page has a form.
const SUCCESS =
  /thank|success|confirm|subscribed|danke|erfolg|bestätig|merci|gracias|grazie|obrigad|bedankt|tack|✓|✔/i;
const REFUSAL =
  /error|invalid|required|please|wrong|failed|fehl|ung[uü]ltig|bitte|pflicht|erreur|veuillez|obligat|por favor|ongeldig|verplicht/i;
const CLOSES =
  /\b(close|dismiss|cancel|skip|back|previous|later|schlie(ß|ss)en|abbrechen|zurück|später|fermer|annuler|cerrar|chiudi)\b|^\W*(no|nein|non)\b|^\s*[×✕✖⨯x]\s*$/i;
const FRIEND =
  /friend|recipient|receiver|colleague|referr?ed|gift|freund|empf[aä]ng|beschenk|amig|\bami\b|destinat/i;
const OWN = /\b(your|my|own|sender|from|ihre?|deine?|votre|mein)\b|absender/i;
const CODES = "[data-discount-code]";

export default (kit) => {
  const { of, property, find, is, safe, attribute, textOf, parentOf, trail, around, isVisible, isAsked } = kit;
  const { BUTTONS, emailFields, contactFields, fieldsOf, formOf, idOf, markOf, stepsOf, toolOf } = kit;
  const { sessionOf, report, submit, finish, view, touched, src, on } = kit;

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

  // The visitor's own address, not a friend's: by what a field is called, else by what stands before it.
  const rank = (field, before, isOnly) => {
    const told = ["name", "id", "placeholder", "aria-label", "autocomplete"]
      .map((name) => attribute(field, name))
      .concat([...(field.labels || [])].map(textOf))
      .join(" ");
    // "Your friend's" is a friend's.
    if (FRIEND.test(told)) return 0;
    if (OWN.test(told) || attribute(field, "autocomplete")) return 2;
    if (isOnly) return 1;
    const range = new Range();
    if (before) range.setStartAfter(before);
    else range.setStart(formOf(field), 0);
    range.setEndBefore(field);
    return FRIEND.test(range) ? 0 : OWN.test(range) ? 2 : 1;
  };
  const isEmail = (text) => /^\S+@\S+\.\S+$/.test(text);
  const isContact = ({ value }) => isEmail(value.trim()) || /^[^@a-z]*(\d[^\da-z]*){5}$/i.test(value);
  const emailOf = (fields) => {
    const all = fields.filter((field) => is(field, emailFields));
    const rated = all
      .map((field, place) => [safe(rank)(field, all[place - 1], !all[1]) ?? 1, field.value.trim()])
      .filter(([rank, value]) => rank && isEmail(value));
    const best = Math.max(...rated.map(([rank]) => rank));
    const values = new Set(rated.filter(([rank]) => rank == best).map(([, value]) => value));
    // Two that could be theirs, and differ: none.
    return values.size == 1 ? [...values][0] : undefined;
  };

  // The text of a form and of what stands beside it.
  const textAround = (form) => {
    let place = form;
    for (
      let next = parentOf(form);
      next && property(next, "children").length == 1 && !is(next, "body");
      next = parentOf(next)
    )
      place = next;
    const besides = ["previousElementSibling", "nextElementSibling"].map((name) => {
      let each = property(place, name);
      while (each && is(each, "script,style,link,template")) each = property(each, name);
      return each;
    });
    // Of what is hidden, `innerText` has all of it.
    return [place, ...besides]
      .map((each) => (each && isVisible(each) && !is(each, "main") && of(HTMLElement, "innerText", each)) || "")
      .join("\n");
  };

  const told = new WeakSet();
  let ended;
  const codeOf = (element) => element && attribute(element, "data-discount-code");
  // A code that is shown since a form was sent, and in no other form.
  const tellCodes = ({ form, id, root }) => {
    for (const element of find(root, CODES))
      if (!told.has(element) && isVisible(element) && [undefined, form].includes(formOf(element))) {
        told.add(element);
        const event = sessionOf(id).Completed ? "Completed" : "Subscribed";
        report(id, event, { discount_code: codeOf(element) });
      }
  };

  let requestAt = 0;
  safe(() =>
    new PerformanceObserver((list) => {
      for (const { initiatorType, name } of list.getEntries())
        if (/fetch|xml|beacon/.test(initiatorType) && !name.startsWith(new URL("v1/", src)))
          requestAt = performance.now();
    }).observe({ entryTypes: ["resource"] }),
  )();

  const tries = new Map();
  const isInvalid = (field) => isAsked(field) && field.willValidate && !field.validity.valid;
  // `isSure`: by a submit event; else it was a click, a key or a script that gathers the form.
  const begin = (form, id, isSure, sender) => {
    const before = tries.get(form);
    if (before && before.isSure > isSure) return;
    const fields = fieldsOf(form);
    const contacts = fields.filter((field) => is(field, contactFields) && isContact(field));
    // What a script has found wrong before, it may find right now.
    const isWrong = (field) => isInvalid(field) && !field.validity.customError;
    if ((!contacts[0] && !markOf(form)) || fields.some(isWrong)) {
      tries.delete(form);
      return;
    }
    const root = property(form, "getRootNode").call(form);
    find(root, CODES).forEach((element) => isVisible(element) && told.add(element));
    const last = stepsOf(form).pop();
    tries.set(form, {
      ...{ form, id, isSure, sender, root, contacts },
      at: performance.now(),
      asked: fields.filter(isAsked),
      email: emailOf(fields) || before?.email,
      // A submit before the last step only leads to the next one.
      isLast: !last || isVisible(last),
      code: codeOf(trail(form).find((each) => is(each, CODES)) || find(form, CODES)[0]),
      path: location.pathname,
      address: location.pathname + location.search,
      text: textAround(form),
      label: textOf(sender),
    });
  };
  // undefined: nobody knows yet.
  const outcome = ({ form, isSure, sender, contacts, at, asked, text, label, address }, isLeft) => {
    const now = performance.now();
    // It was replaced or hidden, perhaps with its dialog; or the page went on.
    if (
      !property(form, "isConnected") ||
      address != location.pathname + location.search ||
      (asked[0] && !fieldsOf(form).some(isAsked))
    )
      return true;
    const lines = textAround(form).split("\n");
    const fresh = lines.filter((line) => !text.includes(line)).join(" ");
    const isThanked = SUCCESS.test(fresh);
    if (find(form, "[aria-invalid=true]").some(isAsked) || (REFUSAL.test(fresh) && !isThanked)) return false;
    if (contacts[0] && contacts.every(({ value }) => !value)) return true;
    if (asked.some(isInvalid)) return false;
    if (isLeft || (isSure && now > at + 1000)) return true;
    const isAnswered = requestAt > at && now > requestAt + 250;
    const isRenamed = label != textOf(sender) && now > at + 1000;
    if (!isSure && fresh && asked.every(isAsked) && (isThanked || isAnswered || isRenamed)) return true;
    return now > at + 10_000 ? false : undefined;
  };
  const settle = (isLeft) => {
    for (const attempt of tries.values()) {
      const { form, id, email, code, isLast, path } = attempt;
      const isSent = safe(outcome)(attempt, isLeft);
      if (isSent == null) continue;
      tries.delete(form);
      if (!isSent) continue;
      ended = attempt;
      on(path, () => {
        submit(id, email, code);
        if (isLast) finish(id, code);
      });
    }
    if (ended) on(ended.path, () => tellCodes(ended));
  };

  const isLink = (element) => is(element, "a[href]:not([href^='#'],[href^='javascript:'])");
  // Whether a button or a link can be what sends the form.
  const isSender = (form, button) => {
    const words = ["aria-label", "title", "value"].map((name) => attribute(button, name));
    const sends = find(form, "button:not([type]),[type=submit],[type=image]").filter(isVisible);
    return !(
      isLink(button) ||
      is(button, "[aria-haspopup],[aria-expanded],[aria-pressed],[type=reset]") ||
      is(button, "[class*=close i],[class*=dismiss i],[id*=close i]") ||
      [textOf(button), ...words].some((word) => CLOSES.test(word)) ||
      (sends[0] && !sends.includes(button))
    );
  };
  // The form of a button beside it: that of a form that has none.
  const besideOf = (button) => {
    for (const element of around(button)) {
      const forms = find(element, "form").filter(idOf);
      if (forms[0]) return !forms[1] && !find(forms[0], BUTTONS)[0] && forms[0];
    }
  };

  let typedAt = 0;
  let leftAt = 0;
  const hear = ({ type, isTrusted, key, isComposing }, path) => {
    const now = Date.now();
    if (/input|change/.test(type)) typedAt = now;
    const isClick = type == "click";
    const target = isClick ? path.find((node) => is(node, BUTTONS)) : path[0];
    const isEnter = type == "keydown" && key == "Enter" && !isComposing && is(target, "input");
    if (!target || !(isClick || isEnter || /submit|formdata/.test(type))) return;
    const form = formOf(target) || (isClick && besideOf(target));
    if (isClick && isTrusted) {
      if (isLink(target)) leftAt = now;
      // The visitor went on, and nothing had shown that it was sent.
      for (const each of tries.values()) if (!each.isSure && each.form != form) tries.delete(each.form);
    }
    const id = form && idOf(form);
    if (!id || (isClick && !isSender(form, target))) return;
    // A script that looks through a form as somebody types, or goes away, does not send it.
    if (type == "formdata" && (now < typedAt + 50 || now < leftAt + 1000)) return;
    // A tool says itself what it has taken.
    if (toolOf(form)) {
      sessionOf(id).email = emailOf(fieldsOf(form)) || sessionOf(id).email;
      return;
    }
    if (isClick && isTrusted) touched.set(form, now);
    // A person, not a script.
    if (!touched.has(form) && !sessionOf(id).Started) return;
    if (type == "submit") view(form, id, target);
    begin(form, id, +(type == "submit"), isClick && target);
  };
  return { hear, answer, settle };
};
