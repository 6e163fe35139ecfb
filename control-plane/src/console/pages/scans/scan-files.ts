import { ApiError } from '../../../http/api-error.ts';
import { at, withQuery } from '../../api/console-api.ts';
import type { PageRoute } from '../../visit.ts';

/** The small picture of a scan in lists: of an ad that showed nothing, that of its page. */
export const scanThumbnail: PageRoute = {
  method: 'GET',
  path: '/scans/{id}/thumbnail',
  handle: async ({ api, params, query }) => {
    const picture = (name: string) => api.file(withQuery(`${at`/scans/${params.id!}`}/${name}`, { w: 160 }));
    if (query.get('of') !== 'creative-screenshot') return { answer: await picture('screenshot') };
    const answer = await picture('creative-screenshot').catch((error: unknown) => {
      if (error instanceof ApiError && error.status === 404) return picture('screenshot');
      throw error;
    });
    return { answer };
  },
};

/**
 * Files of a scan, with the permission of the person. Only pictures are shown; everything else is what a hostile server
 * sent, and is downloaded.
 */
export const scanFiles: PageRoute[] = [
  'screenshot',
  'creative-screenshot',
  'landings/{ord}/screenshot',
  'companions/{place}/screenshot',
  'creative-html',
  'creative-video',
  'vast-xml',
  'events',
].map((name) => ({
  method: 'GET',
  path: `/scans/{id}/${name}`,
  handle: async ({ api, params, query }) => {
    const file = name.replace(/\{(\w+)\}/, (_, id: string) => encodeURIComponent(params[id] ?? ''));
    // A picture of the whole page is that in its own size.
    const width = query.get('whole') === 'yes' ? null : query.get('w');
    const answer = await api.file(withQuery(`${at`/scans/${params.id!}`}/${file}`, { w: width }));
    if (name.endsWith('screenshot') || name === 'events') return { answer };
    const headers = {
      ...answer.headers,
      'Content-Disposition': `attachment; filename="${name}"`,
      'Content-Security-Policy': "default-src 'none'; sandbox",
    };
    return { answer: { ...answer, headers } };
  },
}));
