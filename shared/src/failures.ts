/**
 * Every failure that can end an attempt; {@link publicTextOf} of a code is a failed scan's `error` (spec 3 and 7.2).
 */
const FAILURES = {
  'proxy: NODE_NOT_FOUND': 'permanent',
  'proxy: ACCOUNT_REFUSED': 'permanent',
  'proxy: NODE_BUSY': 'transient',
  'proxy: UPSTREAM_FAILED': 'transient',
  'proxy: RATE_LIMITED': 'transient',
  'navigation: TIMEOUT': 'transient',
  'navigation: CONNECTION_FAILED': 'transient',
  'navigation: DNS': 'transient',
  'navigation: TLS': 'transient',
  'navigation: BLOCKED_URL': 'permanent',
  'navigation: TOO_MANY_REDIRECTS': 'permanent',
  'navigation: DOWNLOAD': 'permanent',
  'navigation: NO_CONTENT': 'permanent',
  'ad_tag: INVALID': 'permanent',
  'vast: INVALID': 'permanent',
  'vast: NO_AD': 'permanent',
  'vast: WRAPPER_LIMIT': 'permanent',
  'vast: WRAPPER_UNREACHABLE': 'permanent',
  'vast: WRAPPER_UNANSWERED': 'transient',
  'browser: CRASHED': 'transient',
  'browser: OUT_OF_MEMORY': 'transient',
  'browser: TIMEOUT': 'transient',
  'ad_discovery: AD_GONE': 'permanent',
  'node: LOST': 'transient',
  'internal: ERROR': 'permanent',
} as const satisfies Record<string, 'transient' | 'permanent'>;

export type FailureCode = keyof typeof FAILURES;

/**
 * Clients get the same text for a wrapper whose server refused it and for one whose server did not answer; and for an
 * ad that is not on its page any more when its scan runs again after the loss of a node, as for the loss itself.
 */
const PUBLIC_TEXTS: Partial<Record<FailureCode, FailureCode>> = {
  'vast: WRAPPER_UNANSWERED': 'vast: WRAPPER_UNREACHABLE',
  'ad_discovery: AD_GONE': 'node: LOST',
};

/** The public text of a failed scan (`error`, spec 7.2). */
export const publicTextOf = (code: FailureCode): string => PUBLIC_TEXTS[code] ?? code;

/** Whether another attempt may clear this failure (spec 3, retry rules). */
export const isTransient = (code: FailureCode): boolean => FAILURES[code] === 'transient';

/** Failures of our own and not of the target: the charge is refunded. */
export const isOurFault = (code: FailureCode): boolean => OUR_FAULTS.has(code);

const OUR_FAULTS: ReadonlySet<FailureCode> = new Set(['ad_discovery: AD_GONE', 'node: LOST', 'internal: ERROR']);

export const FAILURE_CODES = Object.keys(FAILURES) as FailureCode[];
