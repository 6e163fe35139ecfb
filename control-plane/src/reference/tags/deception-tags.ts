import type { SystemTag } from './system-tag.ts';

/** Tags of deceptive or malicious pages, most severe first. */
export const DECEPTION_TAGS = [
  {
    slug: 'scareware',
    category: 'deception',
    severity: 'high',
    visibility: 'public',
    display_name: 'Scareware',
    description:
      "The page claims that the visitor's device is infected or locked, or that the visitor was recorded, and urges them to call, to install something or to pay.",
  },
  {
    slug: 'phishing_form',
    category: 'deception',
    severity: 'high',
    visibility: 'public',
    display_name: 'Phishing form',
    description:
      'A form asks for secrets in the name of a brand on a site that does not belong to it, or sends them to an address that no login uses.',
  },
  {
    slug: 'malicious_script',
    category: 'security',
    severity: 'high',
    visibility: 'public',
    display_name: 'Malicious script',
    description:
      'A script behaves like known malicious scripts, such as one that sends card numbers to a hidden address.',
  },
  {
    slug: 'fake_system_dialog',
    category: 'deception',
    severity: 'high',
    visibility: 'public',
    display_name: 'Fake system dialog',
    description: 'The page imitates a dialog of the operating system or the browser.',
  },
  {
    slug: 'fake_update',
    category: 'deception',
    severity: 'high',
    visibility: 'public',
    display_name: 'Fake update',
    description:
      'The page claims that the browser or a part of it is outdated, and offers an update that is not from its vendor.',
  },
  {
    slug: 'paste_to_run',
    category: 'deception',
    severity: 'high',
    visibility: 'public',
    display_name: 'Command to paste and run',
    description:
      'The page asks the visitor to paste and run a command, supposedly to prove that they are human, to repair something or to open a file.',
  },
  {
    slug: 'push_lure',
    category: 'deception',
    severity: 'medium',
    visibility: 'public',
    display_name: 'Lure to allow notifications',
    description:
      'The page asks the visitor to allow notifications under a pretext, such as to prove that they are human or to watch a video.',
  },
  {
    slug: 'forced_subscription',
    category: 'deception',
    severity: 'medium',
    visibility: 'public',
    display_name: 'Forced subscription',
    description: 'The page hides a recurring price, preselects a subscription, or orders one without a click.',
  },
] as const satisfies SystemTag[];
