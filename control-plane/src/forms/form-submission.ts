import { DAY_MS } from '@adsweep/shared/durations.ts';

/** The forms of a website, by the last part of their path. */
export const FORMS = ['contact', 'demo-inquiries'] as const;
export type FormName = (typeof FORMS)[number];

/**
 * What was sent with a form. `fields`: those that were filled in. `mail_due_at`: when it is to be mailed to the
 * operator; absent: it was, or never will be. `mail_tries`: how often that was tried.
 */
export type FormSubmission = {
  _id: string;
  form: FormName;
  fields: Record<string, string>;
  received_at: Date;
  mail_due_at?: Date;
  mail_tries?: number;
};

const RETENTION_DAYS = 180;

/** Submissions from before this moment are removed. */
export const keptSince = (now: Date): Date => new Date(now.getTime() - RETENTION_DAYS * DAY_MS);
