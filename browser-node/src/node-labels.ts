import { NODE_LABEL_KEY, NODE_LABEL_LENGTH_MAX, NODE_LABELS_MAX } from '@adsweep/shared/lease/messages.ts';

const KEY = new RegExp(NODE_LABEL_KEY);

/** Labels from `key=value,key=value`; null where that is not what it says, or names a key twice. Pure. */
export function readLabels(text: string): Record<string, string> | null {
  const entries = text
    .split(',')
    .map((one) => one.trim())
    .filter((one) => one !== '')
    .map((one): [string, string] => {
      const at = one.indexOf('=');
      return at < 0 ? [one, ''] : [one.slice(0, at).trim(), one.slice(at + 1).trim()];
    });
  const isLabel = ([key, value]: [string, string]) =>
    KEY.test(key) && value !== '' && value.length <= NODE_LABEL_LENGTH_MAX;
  const labels = Object.fromEntries(entries);
  const areLabels = entries.every(isLabel) && Object.keys(labels).length === entries.length;
  return areLabels && entries.length <= NODE_LABELS_MAX ? labels : null;
}
