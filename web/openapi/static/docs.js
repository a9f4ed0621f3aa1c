// Shows the description of the API. Nothing is loaded from other hosts, and keys are not stored.
"use strict";

const element = document.getElementById("docs");

SwaggerUIBundle({
  domNode: element,
  url: element.dataset.document,
  deepLinking: true,
  defaultModelsExpandDepth: 0,
  requestSnippetsEnabled: true,
  validatorUrl: null,
});
