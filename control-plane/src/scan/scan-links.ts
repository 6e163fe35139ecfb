/**
 * Where clients find this deployment: its base URL without a trailing slash, and whether it has pages for people at
 * `/console`.
 */
export type PublicUrls = { publicUrl: string; hasConsole: boolean };

/** Absolute URLs of a scan's resources. */
export function scanLinks({ publicUrl, hasConsole }: PublicUrls, scan: { _id: string; report_token: string }) {
  const publicReport = `${publicUrl}/r/${scan.report_token}`;
  return {
    screenshot: `${publicUrl}/api/v1/scans/${scan._id}/screenshot`,
    creativeScreenshot: `${publicUrl}/api/v1/scans/${scan._id}/creative-screenshot`,
    creativeVideo: `${publicUrl}/api/v1/scans/${scan._id}/creative-video`,
    vastXml: `${publicUrl}/api/v1/scans/${scan._id}/vast-xml`,
    creativeHtml: `${publicUrl}/api/v1/scans/${scan._id}/creative-html`,
    landingScreenshot: (ord: number) => `${publicUrl}/api/v1/scans/${scan._id}/landings/${ord}/screenshot`,
    companionScreenshot: (place: number) => `${publicUrl}/api/v1/scans/${scan._id}/companions/${place}/screenshot`,
    /** The page of the scan for those who may sign in; without a console the public report. */
    report: hasConsole ? `${publicUrl}/console/scans/${scan._id}` : publicReport,
    publicReport,
  };
}
