// Shows the API's description. Nothing is asked of another host, and no key is kept.
"use strict";

const place = document.getElementById("docs");

SwaggerUIBundle({
  domNode: place,
  url: place.dataset.document,
  deepLinking: true,
  defaultModelsExpandDepth: 0,
  requestSnippetsEnabled: true,
  validatorUrl: null,
});
