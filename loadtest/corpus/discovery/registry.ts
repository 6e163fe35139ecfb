import { GOOGLE_PAGES } from './pages/google.ts';
import { LOOK_ALIKE_PAGES } from './pages/look-alikes.ts';
import { NATIVE_AND_VIDEO_PAGES } from './pages/native-and-video.ts';
import { PLACEMENT_PAGES } from './pages/placements.ts';
import { SERVER_PAGES } from './pages/servers.ts';
import type { PublisherPage } from './publisher-page.ts';

/** All pages of the corpus. */
export const PUBLISHER_PAGES: readonly PublisherPage[] = [
  ...GOOGLE_PAGES,
  ...SERVER_PAGES,
  ...NATIVE_AND_VIDEO_PAGES,
  ...PLACEMENT_PAGES,
  ...LOOK_ALIKE_PAGES,
];
