import { observationsOf } from '@adsweep/shared/capture/observations/index.ts';
import { type Detector, surfaceOf } from '../detector.ts';

/** Documents with a certificate that browsers refuse. The crawl accepts it to see what is behind. */
export const invalidCertificate: Detector = {
  name: 'invalid_certificate',
  needs: [],
  detect: ({ observations }) =>
    observationsOf(observations, 'invalid_certificate').map(({ landing, url, facts }) => {
      const detail = `${facts.host}: ${facts.reason}`;
      return { tag_slug: 'invalid_certificate', detail, url, surface: surfaceOf(landing) };
    }),
};

/** An exit in another country than the one that was asked for: the scan saw what visitors from there see. */
export const exitMismatch: Detector = {
  name: 'exit_mismatch',
  needs: [],
  detect({ exit }) {
    const found = exit?.observed_country_code;
    if (!exit || !found || found === exit.country_code) return [];
    const detail = `An exit in ${exit.country_code} was asked for, and this one was found in ${found}.`;
    return [{ tag_slug: 'exit_mismatch', detail, url: '', surface: 'page' }];
  },
};
