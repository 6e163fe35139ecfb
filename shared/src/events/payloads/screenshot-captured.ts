import { Type } from 'typebox';

/** Payload of `scanning.screenshot.captured`: the crawl stored a screenshot (spec 6). Addresses are absolute, '' = there is none. */
export const ScreenshotCapturedSchema = Type.Object(
  {
    scan_id: Type.String(),
    screenshot_url: Type.String(),
    creative_screenshot_url: Type.String(),
    page_title: Type.String(),
    report_url: Type.String(),
    public_report_url: Type.String(),
  },
  { additionalProperties: false },
);
