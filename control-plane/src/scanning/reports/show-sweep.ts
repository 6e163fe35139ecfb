import { type Html, html } from '../../http/pages/html.ts';
import { adStateWords, adTone } from './ad-words.ts';
import { ByteBudget, showLeftOut } from './byte-budget.ts';
import type { Report, ReportAd, ReportAdScan } from './report.ts';
import { AD_PICTURE_WIDTH, showAdsOnPage } from './show-ads-on-page.ts';
import { showChips } from './show-tags.ts';
import { showUrl } from './show-url.ts';
import { isInProgress } from './verdict.ts';
import { AD_KIND_WORDS } from './words.ts';

/** Characters of a landing's URL that are shown. */
const URL_MAX = 70;
/** The bytes for the ads on the page, and for the pops. */
const ADS_BYTES = 100_000;

/** What a sweep found: the page with its ads, each with its findings, and the pops; null: it is no sweep. */
export function showSweep(report: Report): Html | null {
  const { sweep } = report;
  if (!sweep) return null;
  const [pops, ads] = [true, false].map((isPop) => sweep.ads.filter(({ kind }) => (kind === 'pop') === isPop));
  const none = isInProgress(report) ? 'None has been found so far.' : 'None was found.';
  const list = ads!.length > 0 ? showAds(ads!) : html`<p class="quiet">${none}</p>`;
  return html`<section class="card" id="ads"><h2>Ads on the page ${showCount(ads!)}</h2>${showAdsOnPage(report, sweep)}${list}</section>
${pops!.length > 0 && html`<section class="card" id="pops"><h2>Windows that opened without a click ${showCount(pops!)}</h2>${showAds(pops!)}</section>`}`;
}

const showCount = (ads: readonly ReportAd[]): Html => {
  const scans = ads.filter(({ scan }) => scan !== null).length;
  return html`<span class="count">${ads.length}${scans < ads.length && `, ${scans} of them scanned`}</span>`;
};

function showAds(ads: readonly ReportAd[]): Html {
  const budget = new ByteBudget(ADS_BYTES);
  const items = budget.list(ads, showAd);
  return html`<ol class="ads">${items}</ol>${showLeftOut(budget.leftOut, 'more ads are')}`;
}

function showAd(ad: ReportAd): Html {
  const { number, kind, network, network_host, place, scan } = ad;
  const name = html`${AD_KIND_WORDS[kind]}${(network || network_host) !== '' && html` · <bdi>${network || network_host}</bdi>`}`;
  const title = scan ? html`<a href="${scan.token}">${name}</a>` : name;
  const host = network !== '' && network_host !== '' && html`<span><bdi>${network_host}</bdi></span>`;
  const size = place && html`<span>${place.width} × ${place.height}</span>`;
  const state = adStateWords(ad);
  return html`<li class="ad-item ${adTone(ad)}${!scan && ' hollow'}">${showThumbnail(scan)}<div class="about"><h3><span class="ad-number">${number}</span> ${title}</h3>
<p class="meta">${size}${host}</p>${scan && showChips(scan.tags)}${state !== '' && html`<p class="state">${state}</p>`}${scan && scan.landing_url !== '' && html`<div class="where">${showUrl(scan.landing_url, URL_MAX)}</div>`}</div></li>`;
}

/** The picture of an ad, which browsers load when it comes into view. Its title leads to the same report. */
function showThumbnail(scan: ReportAdScan | null): Html {
  if (!scan?.picture) return html`<div class="thumbnail"></div>`;
  return html`<a class="thumbnail" href="${scan.token}" tabindex="-1" aria-hidden="true"><img src="${scan.token}/${scan.picture}?w=${AD_PICTURE_WIDTH}" alt="" loading="lazy"></a>`;
}
