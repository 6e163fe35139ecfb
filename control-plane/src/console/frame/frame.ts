import type { ApiInProcess } from '../../http/call-routes.ts';
import { documentHead, type Html, html, LOGO } from '../../http/pages/html.ts';
import type { MadeCall } from '../api/console-api.ts';
import { clientCallOf, curlOf } from '../api/snippets.ts';
import { doneWords } from '../components/actions.ts';
import { showProblems } from '../components/problems.ts';
import type { Page, Visit } from '../visit.ts';
import type { ConsoleAssets } from './assets.ts';
import { NAVIGATION } from './navigation.ts';

/** An HTML document of the console; `kind`: the class of its body. */
function documentOf(title: string, assets: ConsoleAssets, kind: string, body: Html): string {
  return html`<!doctype html>
<html lang="en">
${documentHead(`${title} - Adsweep`, assets, assets.script)}
<body class="${kind}">
${body}
<div id="page-end" hidden></div>
</body>
</html>
`.toString();
}

/** The document of a page for a signed-in person: the navigation, the page, and the calls of the API that made it. */
export function signedInPage(
  visit: Visit,
  page: Page,
  operationOf: ApiInProcess['operationOf'],
  assets: ConsoleAssets,
): string {
  const { link, query } = visit;
  const done = doneWords(query);
  const live = html`${page.everySeconds !== undefined && html` data-every="${page.everySeconds}"`}${page.events !== undefined && html` data-events="${page.events}"`}`;
  const body = html`<a class="skip" href="#main">Skip to the content</a>
<header class="side"><a class="brand" href="${link('')}">${LOGO}Adsweep</a><button class="menu-button" type="button" popovertarget="menu">Menu</button>
<div id="menu" class="menu" popover>${showNavigation(visit)}${showWho(visit)}</div></header>
<main id="main" tabindex="-1"${live}>
<div class="page-head">${page.above && html`<p class="above">${page.above}</p>`}<h1>${page.title}</h1><div class="page-actions" data-region="actions">${page.actions}</div></div>
${done !== null && html`<p class="done" role="status">${done}</p>`}${page.problems && showProblems(page.problems, visit.helpOn)}${page.body}
${showCalls(visit.api.calls, visit.publicUrl, operationOf)}</main>`;
  return documentOf(page.title, assets, 'console', body);
}

function showNavigation({ may, link, request }: Visit): Html {
  // Runs belong to their campaigns.
  const shown = request.path.replace(/^\/runs\//, '/campaigns/');
  const current = NAVIGATION.map(({ path }) => path)
    .filter((path) => shown === path || (path !== '' && shown.startsWith(`${path}/`)))
    .at(-1);
  const entries = NAVIGATION.filter((entry) => entry.for.some(may)).map(
    ({ path, label, icon }) =>
      html`<li><a href="${link(path)}"${path === current && html` aria-current="${request.path === path ? 'page' : 'true'}"`}><svg viewBox="0 0 24 24" width="18" height="18" aria-hidden="true"><path d="${icon}"/></svg>${label}</a></li>`,
  );
  return html`<nav aria-label="Pages of the console"><ul>${entries}</ul></nav>`;
}

function showWho({ who, link, token }: Visit): Html {
  return html`<div class="who"><p><b><bdi>${who.organization_name}</bdi></b>${who.organization_status !== 'active' && html` <span class="chip medium">${who.organization_status}</span>`}</p>
<p class="quiet">${who.client_id === null ? 'signed in with an API key' : 'signed in by OAuth'}</p><form method="post" action="${link('/sign-out')}">${token()}<button class="button plain small">Sign out</button></form></div>`;
}

/** How many calls a page shows; pages that ask for each of many rows show the first. */
const CALLS_MAX = 6;

function showCalls(
  calls: readonly MadeCall[],
  publicUrl: string,
  operationOf: ApiInProcess['operationOf'],
): Html | null {
  const shown = calls.slice(0, CALLS_MAX).flatMap((call) => {
    const operation = operationOf(call.method, call.path);
    return operation
      ? [
          html`<li><p class="quiet">${operation.id}</p><pre tabindex="0"><code>${curlOf(call, publicUrl)}</code></pre><pre tabindex="0"><code>${clientCallOf(call, operation)}</code></pre></li>`,
        ]
      : [];
  });
  if (shown.length === 0) return null;
  const more = calls.length - shown.length;
  return html`<details class="as-call"><summary>As an API call</summary><p class="quiet">What this page did, with <code>curl</code> and with the client <code>@adsweep/client</code>.</p><ol>${shown}</ol>${more > 0 && html`<p class="quiet">and ${more} more of the same kind</p>`}</details>`;
}

/** The document of a page before the sign-in: the sign-in itself, or an error. */
export function signedOutPage(title: string, assets: ConsoleAssets, body: Html): string {
  return documentOf(
    title,
    assets,
    'console-bare',
    html`<header class="top"><span class="brand">${LOGO}Adsweep</span><span>Console</span></header>
<main id="main" class="sign-in">${body}</main>`,
  );
}
