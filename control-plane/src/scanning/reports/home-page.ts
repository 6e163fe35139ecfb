import { html } from './html.ts';
import { type Assets, pageDocument } from './page-document.ts';

/** The page of `GET /`, for people: what this is and where to go on. `demoReport` is the path of the demo's report, null = there is none. */
export function homePage(demoReport: string | null, assets: Assets): string {
  const demo =
    demoReport !== null &&
    html`<li><a href="${demoReport}">The report of the demo scan</a>: what a client sees of a finished scan.</li>`;
  const body = html`<section class="card stack"><h1>Adsweep checks advertising creatives</h1>
<p>It loads a page or an ad in a real browser, from a country and on a device of your choice, follows where it leads, and says what it
found. This is its API.</p>
<ul>
<li><a href="docs">The reference</a>: every operation, its fields and its errors.</li>
<li><a href="api/v1/openapi.json">The same as an OpenAPI document</a>, for programs.</li>
${demo}
</ul>
<p>Requests need an API key: <code>Authorization: Bearer &lt;API_KEY&gt;</code>. <code>GET /healthz</code> and <code>GET /readyz</code> tell
whether the service works.</p></section>`;
  const frame = { title: 'Adsweep', heading: 'API', footer: 'Adsweep is open source, under the Apache License 2.0.' };
  return pageDocument(frame, assets, body);
}
