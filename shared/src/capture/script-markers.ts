/**
 * Regular expressions without repetitions, case-sensitive: what malicious scripts contain and few others. A node keeps
 * the parts of a script around them where it does not keep the whole script; the control plane judges.
 */
export const SCRIPT_MARKERS = [
  // Base64 of `https://`, `http://` and `wss://`.
  'aHR0cHM6Ly',
  'aHR0cDovL',
  'd3NzOi8v',
  'api\\.telegram\\.org/bot',
  'discord\\.com/api/webhooks/',
  'discordapp\\.com/api/webhooks/',
  'webhook\\.site/',
  'eth_call',
  'inimalDrainValue',
  'logDrainingStrategy',
  'toDrain',
  'writeText',
  'execCommand',
  'clipboardData',
  'ClipboardItem',
  '104, ?116, ?116, ?112',
  'ActiveXObject',
  'CreateObject',
] as const;
export type ScriptMarker = (typeof SCRIPT_MARKERS)[number];
