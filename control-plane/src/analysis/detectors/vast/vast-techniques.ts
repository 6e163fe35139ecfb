import type { PlayedAd } from '@adsweep/shared/capture/vast.ts';
import type { Evidence } from '../../evidence/evidence.ts';
import type { Detector } from '../detector.ts';
import type { Finding } from '../finding.ts';

/** What an ad is made with: code that runs in the player, overlays without a video, verification. */
export const vastTechniques: Detector = { name: 'vast_techniques', needs: [], detect };

const TECHNIQUES: { slug: string; section: string; of: (ad: PlayedAd) => string }[] = [
  {
    slug: 'vast_vpaid',
    section: '3.9.1, apiFramework',
    of: ({ is_vpaid, shown }) =>
      is_vpaid ? `a VPAID script${shown === 'vpaid' ? ' ran in the player' : ' is there'}` : '',
  },
  { slug: 'vast_nonlinear', section: '3.12', of: ({ shown }) => (shown === 'nonlinear' ? 'nonlinear only' : '') },
  {
    slug: 'vast_simid',
    section: '3.9.3',
    of: ({ interactive }) => listed(interactive.filter((one) => /^simid$/i.test(one))),
  },
  { slug: 'vast_omid', section: '3.17', of: ({ verifications }) => listed(verifications) },
];

function detect({ vast }: Pick<Evidence, 'vast'>): Finding[] {
  return TECHNIQUES.flatMap(({ slug, section, of }) => {
    const seen = (vast?.ads ?? []).flatMap((ad, at) => (of(ad) ? [`ad ${at + 1}: ${of(ad)}`] : []));
    if (seen.length === 0) return [];
    return [
      { tag_slug: slug, detail: `${seen.join('; ')} (VAST 4.3, ${section})`, url: '', surface: 'creative' as const },
    ];
  });
}

const listed = (words: readonly string[]): string => [...new Set(words)].join(', ');
