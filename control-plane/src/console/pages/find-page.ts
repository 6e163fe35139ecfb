import { ApiError } from '../../http/api-error.ts';
import type { PageRequest } from '../../http/serve-console.ts';
import type { PageRoute } from '../visit.ts';
import { PAGES } from './pages.ts';

const ROUTES = PAGES.map((route) => ({
  route,
  pattern: new RegExp(`^(?<_>)${route.path.replaceAll(/\{(\w+)\}/g, '(?<$1>[^/]+)')}$`),
}));

/** The page of a request, and the ids in its path. Throws 404 if there is none. */
export function findPage({ method, path }: Pick<PageRequest, 'method' | 'path'>): {
  route: PageRoute;
  params: Record<string, string>;
} {
  const wanted = method === 'HEAD' ? 'GET' : method;
  for (const { pattern, route } of ROUTES) {
    const groups = route.method === wanted ? pattern.exec(path)?.groups : undefined;
    if (!groups) continue;
    const { _, ...params } = groups;
    return { route, params: Object.fromEntries(Object.entries(params).map(([name, value]) => [name, decode(value!)])) };
  }
  throw noSuchPage();
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    throw noSuchPage();
  }
}

const noSuchPage = () => new ApiError('not_found', 'There is no such page.');
