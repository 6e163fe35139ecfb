import type { SystemTag } from './system-tag.ts';

/** Deceptive pages, most severe first. */
export const DECEPTION_TAGS = [
  {
    slug: 'scareware',
    category: 'deception',
    severity: 'high',
    visibility: 'public',
    display_name: 'Scareware',
    description:
      "The page claims that the visitor's device is infected or locked, and presses him to call, to install something or to pay.",
  },
  {
    slug: 'phishing_form',
    category: 'deception',
    severity: 'high',
    visibility: 'public',
    display_name: 'Phishing form',
    description:
      'A form asks for secrets in the name of a brand on a site that is not its own, or sends them where no login does.',
  },
  {
    slug: 'malicious_script',
    category: 'security',
    severity: 'high',
    visibility: 'public',
    display_name: 'Malicious script',
    description: 'A script behaves like known malicious ones, such as sending card numbers to a hidden address.',
  },
  {
    slug: 'fake_system_dialog',
    category: 'deception',
    severity: 'high',
    visibility: 'public',
    display_name: 'Fake system dialog',
    description: 'The page draws a dialog that looks like one of the system or of the browser.',
  },
  {
    slug: 'fake_update',
    category: 'deception',
    severity: 'high',
    visibility: 'public',
    display_name: 'Fake update',
    description:
      'The page says that the browser or a part of it is old, and offers an update that is not from its maker.',
  },
  {
    slug: 'paste_to_run',
    category: 'deception',
    severity: 'high',
    visibility: 'public',
    display_name: 'Command to paste and run',
    description: 'The page makes the visitor run a command, supposedly to prove that they are human.',
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
