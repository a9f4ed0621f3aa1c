// Calls the service with openapi-fetch and the types that openapi-typescript has generated.

import createClient from "openapi-fetch";

import type { components, paths } from "./schema.js";

declare const process: { env: Record<string, string> };

function check(condition: unknown, message: string): asserts condition {
  if (!condition) throw new Error(message);
}

const client = createClient<paths>({
  baseUrl: process.env.BASE_URL,
  headers: { Authorization: `Bearer ${process.env.API_KEY}` },
});
const range = process.env.RANGE;
const path = { id: process.env.FORM_ID };

const funnel = await client.GET("/v1/forms/{id}/funnel", { params: { path, query: { range } } });
check(funnel.data, "no funnel");
const views: number = funnel.data.data.views;
const name: string | null = funnel.data.data.formName;
check(views > 0 && name, "no views");

const listed = await client.GET("/v1/forms", { params: { query: { limit: 1 } } });
const cursor: string | null | undefined = listed.data?.meta.nextCursor;
check(cursor, "no next page");

const refused = await client.GET("/v1/attribution", { params: { query: { range: "tomorrow" } } });
const error: components["schemas"]["Error"] | undefined = refused.error;
check(error?.error.code === "invalid_range", "not refused");

const made = await client.POST("/v1/forms", { body: { name: "Generated", schema: { steps: [] } } });
check(made.response.status === 201 && made.data?.data.status === "draft", "not created");

const revenue = await client.GET("/v1/revenue/by-utm", { params: { query: { dimension: "campaign", range } } });
if (revenue.data?.data.dimension === "campaign") {
  const source: string | undefined = revenue.data.data.rows[0]?.utmSource;
  check(source !== undefined, "no rows");
}

const query = { format: "csv", range } as const;
const table = await client.GET("/v1/attribution", { params: { query }, parseAs: "text" });
const text: string | undefined = table.data;
check(text?.startsWith("attributionType,orders,"), "no table");

console.log("The TypeScript client works.");
