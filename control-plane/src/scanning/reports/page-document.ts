import { type Html, html } from './html.ts';

/** Paths that every page refers to. */
export type Assets = { stylesheet: string; icon: string };

/** What is around a page's contents; `heading` stands beside our name. */
type Frame = { title: string; heading: string; footer: string };

/** A page as an HTML document that search engines leave alone. */
export function pageDocument({ title, heading, footer }: Frame, assets: Assets, body: Html): string {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex, nofollow">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<link rel="icon" type="image/svg+xml" href="${assets.icon}">
<link rel="stylesheet" href="${assets.stylesheet}">
</head>
<body>
<header class="top"><span class="brand">${LOGO}Adsweep</span><span>${heading}</span></header>
<main>${body}</main>
<footer>${footer}</footer>
</body>
</html>
`.toString();
}

const LOGO = html`<svg viewBox="0 0 24 24" width="22" height="22" aria-hidden="true"><circle cx="12" cy="12" r="10"/><path d="M12 12 19 5M12 6a6 6 0 1 0 6 6"/></svg>`;
