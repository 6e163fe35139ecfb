import { DAY_MS } from '@adsweep/shared/durations.ts';
import { addressBlocks } from '@adsweep/shared/urls/address-blocks.ts';
import { limitByAddress } from '../accounts/rate-limit/limit-by-address.ts';
import { requestCounter } from '../accounts/rate-limit/limit-requests.ts';
import type { Domain } from '../domain.ts';
import type { Platform } from '../platform/platform.ts';
import { startLoop } from '../platform/start-loop.ts';
import { mailNext } from './form-mail.ts';
import { FORM_PATHS } from './form-paths.ts';
import { formRoutes } from './form-routes.ts';
import { formStore } from './form-store.ts';
import { keptSince } from './form-submission.ts';

/**
 * `formOrigins`: of the pages that may send forms. `trustedProxies`: address blocks whose `X-Forwarded-For` counts.
 * `formsMailTo`: who gets what was sent as a mail, if there is a mail server.
 */
export type FormSettings = { formOrigins?: string[]; trustedProxies?: string[]; formsMailTo?: string[] };

/** Submissions in a minute. */
const LIMIT = {
  name: 'form',
  perAddress: 5,
  inAll: 300,
  detail: 'Too many submissions: try again later.',
};

const KIB = 1024;
/** Bytes in 24 hours, which are kept for 180 days. A submission has up to 64 KiB; nearly all have less than one. */
const LIMIT_BYTES = {
  name: 'form-bytes',
  perAddress: 512 * KIB,
  inAll: 16 * KIB * KIB,
  detail: 'Too much was sent today: try again tomorrow.',
};

const MAIL_EVERY_MS = 5_000;
const REMOVE_EVERY_MS = 60 * 60 * 1_000;

/** The forms of a website for people without an account. */
export function formsDomain(
  { store, redis, mailer, logger }: Pick<Platform, 'store' | 'redis' | 'mailer' | 'logger'>,
  { formOrigins = [], trustedProxies = [], formsMailTo = [] }: FormSettings,
) {
  const forms = formStore(store);
  const isTrusted = addressBlocks(trustedProxies);
  const limit = limitByAddress({ count: requestCounter(redis), isTrusted }, LIMIT);
  const limitBytes = limitByAddress({ count: requestCounter(redis, { windowMs: DAY_MS }), isTrusted }, LIMIT_BYTES);
  const removeOld = () =>
    startLoop(logger, {
      name: 'forms',
      everyMs: REMOVE_EVERY_MS,
      step: () => forms.removeBefore(keptSince(new Date())),
    });
  const mail = mailer && formsMailTo.length > 0 ? { forms, mailer, to: formsMailTo, logger } : null;
  const sendMails =
    mail &&
    (() => startLoop(logger, { name: 'form mails', everyMs: MAIL_EVERY_MS, step: () => mailNext(mail, new Date()) }));
  return {
    stores: { forms },
    routes: {
      api: formRoutes({ forms, limit, limitBytes, isMailed: sendMails !== null }),
    },
    loops: { sweeper: () => [removeOld()], relay: () => (sendMails ? [sendMails()] : []) },
    outboxHandlers: {},
    verbs: {
      /** Which pages may send forms, and where. */
      openTo: { paths: FORM_PATHS.map(({ path }) => path), origins: formOrigins },
    },
  } satisfies Domain;
}
