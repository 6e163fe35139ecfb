import { type Options, UsageError, type Values } from './command.ts';
import { readText } from './read-text.ts';
import { FAIL_ON, type FailOn } from './verdict.ts';

/** The options of commands that create scans. */
export const SCAN_OPTIONS = {
  device: { type: 'string', short: 'd', means: 'the device, see adsweep api listEmulators' },
  as: { type: 'string', means: 'what the target is, if it is not a page or a file', values: ['page', 'tag', 'vast'] },
  referrer: { type: 'string', means: 'the publisher page that it is loaded from' },
  label: { type: 'string', multiple: true, means: 'a label, key=value' },
  discover: { type: 'boolean', means: 'scan each ad of the page too' },
  repeat: { type: 'string', means: 'how often, 1 to 20' },
  retries: { type: 'string', means: 'attempts after a failure, 0 to 5' },
  'dry-run': { type: 'boolean', means: 'check the request and its price, scan nothing' },
  wait: { type: 'boolean', short: 'w', means: 'wait for the findings; the exit code is the verdict' },
  'fail-on': { type: 'string', means: 'the least severity that counts as a finding (low)', values: FAIL_ON },
} as const satisfies Options;

type Target = { url: string } | { ad_tag: string } | { vast_tag: string };

/** A URL, or a file (`-`: `stdin`) with an ad tag or a VAST document. */
export async function targetOf(word: string, as: string | undefined): Promise<Target> {
  if (as !== undefined && !['page', 'tag', 'vast'].includes(as)) throw new UsageError(`--as must be page, tag or vast`);
  if (as === 'page') return { url: word };
  const isUrl = /^https?:\/\//i.test(word);
  if (isUrl && as === undefined) return { url: word };
  const text = isUrl ? word : await readText(word, '; a URL begins with https:// or http://');
  return as === 'vast' || (as === undefined && /<VAST[\s>]/i.test(text)) ? { vast_tag: text } : { ad_tag: text };
}

/** The fields of a request that do not depend on its target. */
export function fieldsOf(values: Values<typeof SCAN_OPTIONS>) {
  if (values.device === undefined) throw new UsageError('--device is missing; adsweep api listEmulators lists them');
  return {
    emulator_id: values.device,
    ...(values.referrer !== undefined && { referrer: values.referrer }),
    ...(values.label && { labels: labelsOf(values.label) }),
    ...(values.discover && { ad_discovery: true }),
    ...(values.repeat !== undefined && { repeat_count: numberOf('repeat', values.repeat) }),
    ...(values.retries !== undefined && { retry_max_attempts: numberOf('retries', values.retries) }),
  };
}

export function failOnOf(value: string | undefined): FailOn {
  const found = FAIL_ON.find((one) => one === (value ?? 'low'));
  if (!found) throw new UsageError(`--fail-on must be one of ${FAIL_ON.join(', ')}`);
  return found;
}

/** Labels by their keys; of two values for one key, only one could be sent. */
function labelsOf(texts: string[]): Record<string, string> {
  const pairs = texts.map(labelOf);
  const labels = Object.fromEntries(pairs);
  const twice = pairs.find(([key, value]) => labels[key] !== value);
  if (twice) throw new UsageError(`--label ${twice[0]} has two values`);
  return labels;
}

function labelOf(text: string): [string, string] {
  const at = text.indexOf('=');
  if (at < 1) throw new UsageError(`--label must be key=value: ${text}`);
  return [text.slice(0, at), text.slice(at + 1)];
}

function numberOf(name: string, text: string): number {
  if (!/^\d+$/.test(text)) throw new UsageError(`--${name} must be a number: ${text}`);
  return Number(text);
}
