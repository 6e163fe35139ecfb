import type { FailureCode } from './failures.ts';

/** Why an attempt fails so, and what its reader can do. */
type Explanation = { means: string; cure: string };

const AGAIN =
  'Scan it again, or give scans a `retry_max_attempts`: so often they are tried again by themselves before they fail.';

/** Each failure of a scan in words, for the documents. */
export const FAILURE_EXPLANATIONS: Record<FailureCode, Explanation> = {
  'proxy: NODE_NOT_FOUND': {
    means: 'No exit fits the targeting any more: the catalogue has changed since the scan was accepted.',
    cure: 'Ask for less: leave out the ISP or the city, or choose another type of exit.',
  },
  'proxy: ACCOUNT_REFUSED': {
    means: 'The vendor of the exits refuses the account: wrong credentials, no credit, or a blocked target.',
    cure: 'The operator checks the account; `GET /overview` of the proxy-router names the provider.',
  },
  'proxy: NODE_BUSY': {
    means: 'All fitting exits have as many users as they may have, or are in a pause after failures.',
    cure: `${AGAIN} More exits make it rarer.`,
  },
  'proxy: UPSTREAM_FAILED': {
    means: 'The exit could not be reached, broke off, or did not answer.',
    cure: `${AGAIN} If it lasts, the operator looks at the failures by provider in \`GET /overview\` of the proxy-router.`,
  },
  'proxy: RATE_LIMITED': {
    means: 'The vendor of the exits limits the rate.',
    cure: `${AGAIN} A larger account allows more.`,
  },
  'navigation: TIMEOUT': {
    means: 'The page did not begin to load in time.',
    cure: `${AGAIN} If it always fails, open the page from that country yourself: it may be down or block the exit.`,
  },
  'navigation: CONNECTION_FAILED': {
    means: 'The server refused or broke the connection.',
    cure: `${AGAIN} If it always fails, the server is down or blocks the exit.`,
  },
  'navigation: DNS': {
    means: 'The name of the server does not resolve.',
    cure: 'Check the spelling of the URL and whether the domain still exists.',
  },
  'navigation: TLS': {
    means: 'No secure connection could be made.',
    cure: 'Check the certificate of the server, and whether it speaks TLS 1.2 or newer.',
  },
  'navigation: BLOCKED_URL': {
    means: 'The URL, or where it redirects, has an address that scans may not reach, such as one in a private network.',
    cure: 'Scan a public URL. For an intranet or a test site the operator lists its name in `hosts` of the exits file.',
  },
  'navigation: TOO_MANY_REDIRECTS': {
    means: 'The page redirects in a circle.',
    cure: 'Correct the redirects. Some circles come from cookies that a server expects.',
  },
  'navigation: DOWNLOAD': {
    means: 'The URL leads to a file that is downloaded, and not to a page.',
    cure: 'Scan the page that links to it: the download is then a finding of that page.',
  },
  'navigation: NO_CONTENT': {
    means: 'The server answered without a page.',
    cure: 'Check what the URL answers from that country and to that device.',
  },
  'ad_tag: INVALID': {
    means: 'The ad tag has nothing that a browser could render.',
    cure: 'Send the snippet as the ad server gives it, or its URL.',
  },
  'vast: INVALID': {
    means:
      'The document is no VAST, or has none of the required parts. A VMAP playlist, which names the tags of several breaks, is no VAST.',
    cure: 'Check the document with the URL of the tag; the report lists what is wrong. Of a VMAP, scan the tag of each ad break.',
  },
  'vast: NO_AD': {
    means: 'The ad server answered without an ad.',
    cure: 'Ask from another country or device, or later: campaigns are targeted and capped.',
  },
  'vast: WRAPPER_LIMIT': {
    means: 'The chain of wrappers is longer than players follow.',
    cure: 'Shorten the chain: players give up here too.',
  },
  'vast: WRAPPER_UNREACHABLE': {
    means: 'A wrapper names a document that its server does not give.',
    cure: 'Ask the owner of that server; the report has the chain with each answer.',
  },
  'vast: WRAPPER_UNANSWERED': { means: 'The server of a wrapper did not answer.', cure: AGAIN },
  'browser: CRASHED': { means: 'The browser ended while it captured.', cure: AGAIN },
  'browser: OUT_OF_MEMORY': {
    means: 'The page needed more memory than a capture may have.',
    cure: 'Give nodes more memory (at least 2 GB each) or fewer slots.',
  },
  'browser: TIMEOUT': {
    means: 'The capture did not end within the time of an attempt.',
    cure: `${AGAIN} If it lasts, nodes are overloaded: lower \`ADSWEEP_SLOTS\`.`,
  },
  'ad_discovery: AD_GONE': {
    means: 'The ad of a sweep was not on the page any more when its scan ran again.',
    cure: 'Sweep the page again. The check is refunded.',
  },
  'node: LOST': {
    means: 'The nodes that ran the scan disappeared, several times.',
    cure: 'The check is refunded. The operator looks at why nodes end: memory, or the machine.',
  },
  'internal: ERROR': {
    means: 'A fault of Adsweep.',
    cure: 'The check is refunded. Give the operator the id of the scan: the log has the cause under it.',
  },
};
