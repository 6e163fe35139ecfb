import type { NetworkRequest } from '@adsweep/shared/capture/network-request.ts';
import { type ObservationOf, observationsOf } from '@adsweep/shared/capture/observations/index.ts';
import { type Detector, oneTag } from '../../detector.ts';
import { brandsOf } from '../brands.ts';
import { seenPages } from '../seen-page.ts';
import { asksForAccount, asksForKeys } from './asked-fields.ts';
import { collectorIn, isCollector } from './form-collectors.ts';
import { impersonates } from './impersonation.ts';
import { pretextOf } from './pretexts.ts';

/**
 * Forms that ask for secrets in the name of a brand on a site that is not its own, or that send them to an endpoint for
 * form data.
 */
export const phishingForm: Detector<'documents' | 'requests' | 'bodies'> = {
  name: 'phishing_form',
  needs: ['documents', 'requests', 'bodies'],
  detect({ documents, observations, requests, bodies }) {
    const forms = observationsOf(observations, 'form').filter(({ facts }) => asksForAccount(facts));
    const pages = seenPages(documents).filter(({ landing }) => forms.some((form) => form.landing === landing));
    const collectors = new Map(pages.map((page) => [page.landing, collectorIn(page, bodies)]));
    const pictured = new Map(pages.map(({ landing }) => [landing, brandsOf(picturesOf(landing, requests))]));
    const signOf = (form: ObservationOf<'form'>): string | null => {
      const { landing, facts } = form;
      if (asksForKeys(facts)) {
        if (isCollector(facts.action_url)) return `sent to ${URL.parse(facts.action_url)?.host}`;
        const collector = collectors.get(landing);
        if (collector) return `with a script that sends to ${collector}`;
      }
      const page = pages.find((one) => one.landing === landing);
      const shown = pictured.get(landing);
      if (!page || !shown) return null;
      const claim = impersonates(form, page, shown);
      if (claim) return claim;
      const pretext = pretextOf(facts.fields, page);
      return pretext && `under the pretext "${pretext}"`;
    };
    return oneTag(
      'phishing_form',
      forms.flatMap((form) => {
        const sign = signOf(form);
        const { landing, url, facts } = form;
        return sign === null ? [] : { landing, text: `${facts.fields.join(' and ')} at ${url}, ${sign}` };
      }),
    );
  },
};

/** Paths of pixels that count visits, and of buttons for payment that shops embed. */
const PIXELS = /\/(tr|ts|px|pixel|collect|event|events|log|beacon|pagead|ads|batch|i\/(btn|scr))(\/|\.gif|\.php|$)/i;
/** A picture of less than this has only one pixel, in bytes. */
const PICTURE_BYTES_MIN = 100;

const picturesOf = (landing: number | null, requests: readonly NetworkRequest[]): string[] =>
  requests.filter((one) => one.landing === landing && isPicture(one)).map(({ url }) => url);

/** Whether a request loaded something to look at. */
const isPicture = ({ resource_type, url, status_code, content_type, body_size }: NetworkRequest): boolean =>
  resource_type === 'image' &&
  status_code !== 204 &&
  !(content_type.startsWith('image/') && body_size < PICTURE_BYTES_MIN) &&
  !PIXELS.test(URL.parse(url)?.pathname ?? '');
