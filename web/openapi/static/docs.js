// Shows the description of the API. Nothing is loaded from other hosts, and keys are not stored.
"use strict";

const element = document.getElementById("docs");
const dark = matchMedia("(prefers-color-scheme: dark)");
const follow = () => document.documentElement.classList.toggle("dark-mode", dark.matches);
follow();
dark.addEventListener("change", follow);

fetch(element.dataset.document)
  .then((answer) => answer.json())
  .then((spec) => {
    // A form of the shop of who is signed in.
    if (element.dataset.form) spec.components.parameters.FormId.example = element.dataset.form;
    SwaggerUIBundle({
      domNode: element,
      spec,
      deepLinking: true,
      defaultModelsExpandDepth: 0,
      requestSnippetsEnabled: true,
      validatorUrl: null,
    });
  });
