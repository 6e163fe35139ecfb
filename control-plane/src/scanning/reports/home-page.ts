import { type Assets, type Html, html, pageDocument } from '../../http/pages/html.ts';
import { breakable } from './show-url.ts';

const FRAME = { title: 'Adsweep', heading: 'API', footer: 'Adsweep is open source, under the Apache License 2.0.' };
/** Targets of the example request: a page of the demo's local ad world, and a public page. */
const DEMO_PAGE = 'http://go.redirects.example/start';
const ANY_PAGE = 'https://example.com/';

/** What the page says of this deployment. */
export type Home = {
  /** The path of the demo's report; null: there is none. */
  demoReport: string | null;
  /** Whether there are pages for people at `/console`. */
  hasConsole: boolean;
  /** The base URL of the API. */
  publicUrl: string;
};

/** The page of `GET /`: what the service does, the console, a first request, and links. */
export function homePage({ demoReport, hasConsole, publicUrl }: Home, assets: Assets): string {
  const demo =
    demoReport !== null &&
    html`<li><a href="${demoReport}">Report of the demo scan</a>: what a finished scan looks like.</li>`;
  const body = html`<section class="card lead"><h1>Adsweep checks advertising creatives</h1>
<p>It loads a page or an ad in a real browser, from a country and on a device of your choice, follows redirects and clicks, and reports
what it finds.</p>${hasConsole && html`<p><a href="console">Open the console</a> and sign in with your API key, or use the API:</p>`}</section>
<section class="card steps"><h2>Scan a page</h2>
<ol>
<li>Take your API key: <code>npm start</code> prints it after the word <code>key</code>; otherwise ask the operator of this service.</li>
<li>Request a scan:<pre><code>${firstRequest(publicUrl, demoReport === null ? ANY_PAGE : DEMO_PAGE)}</code></pre></li>
<li>Open the <code>public_report_url</code> of the response in a browser. The report needs no key and is updated while the scan runs.</li>
</ol></section>
<section class="card"><h2>Links</h2>
<ul class="links">
${demo}
<li><a href="docs">Documents</a>: quickstarts, guides, and what every error, event and setting means.</li>
<li><a href="docs/api">API reference</a>: every operation, its fields and its errors.</li>
<li><a href="api/v1/openapi.json">OpenAPI document</a>: the same for programs.</li>
<li><a href="healthz">Health</a> and <a href="readyz">readiness</a>: whether the service works, and otherwise what is missing.</li>
</ul></section>`;
  return pageDocument(FRAME, assets, body);
}

const firstRequest = (publicUrl: string, page: string): Html => html`curl ${breakable(`${publicUrl}/api/v1/scans`)} \\
  -H 'Authorization: Bearer YOUR_KEY' \\
  -H 'Content-Type: application/json' \\
  -d '{"url": "${breakable(page)}", "country_code": "US", "emulator_id": "windows_chrome"}'`;
