import type { IncomingMessage } from 'node:http';
import type { TestContext } from 'node:test';
import { answer, scriptedServer } from './scripted-server.ts';

type Tag = { tag_slug: string; severity: string };

/** The API as far as the command line asks it, with one scan that has ended so. */
export async function simulatedApi(t: TestContext, { status = 'completed', tags = [] as Tag[] } = {}) {
  const scan = {
    ...{ id: 'scan-1', status, error: status === 'failed' ? 'navigation: TIMEOUT' : '', country_code: 'US' },
    ...{ url: 'https://shop.example/', ad_tag: null, vast_tag: null, parent_scan_id: null, ad_discovery: false },
    public_report_url: 'https://adsweep.example/r/token',
  };
  const found = tags.map((tag) => ({ ...tag, scan_id: 'scan-1', display_name: `Name of ${tag.tag_slug}`, url: '' }));
  const pageOf = (items: unknown[]) => ({ items, total: items.length, page: 1, limit: 50, pages: 1 });
  const answers: Record<string, Parameters<typeof answer>> = {
    'POST /api/v1/scans': [201, { ...scan, status: 'pending' }],
    'POST /api/v1/scans/bulk': [201, [{ ...scan, status: 'pending' }]],
    'GET /api/v1/scans/scan-1': [200, scan],
    'GET /api/v1/scans/scan-1/tags': [200, found],
    'GET /api/v1/alerts': [200, pageOf([{ id: 'alert-1', status: 'open', tag_slug: 'autosound' }])],
    'GET /api/v1/account': [200, { id: 'organization-1', name: 'Acme' }],
  };
  return scriptedServer(t, [
    (response, request: IncomingMessage) => {
      const path = request.url!.replace(/\?.*/, '');
      if (path === '/api/v1/scans/scan-1/events') {
        const state = JSON.stringify({ id: 'scan-1', status, retry_attempt: 0 });
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        return void response.end(`: hello\n\nevent: state\ndata: ${state}\n\n`);
      }
      const refusal: Parameters<typeof answer> = [404, { detail: 'Not found.', code: 'not_found' }];
      return answer(...(answers[`${request.method} ${path}`] ?? refusal))(response, request);
    },
  ]);
}
