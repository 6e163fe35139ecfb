/** Absolute URLs of a scan's resources; `publicUrl` is the base URL that clients use, without a trailing slash. */
export function scanLinks(publicUrl: string, scan: { _id: string; report_token: string }) {
  const report = `${publicUrl}/r/${scan.report_token}`;
  return {
    screenshot: `${publicUrl}/api/v1/scans/${scan._id}/screenshot`,
    creativeScreenshot: `${publicUrl}/api/v1/scans/${scan._id}/creative-screenshot`,
    creativeVideo: `${publicUrl}/api/v1/scans/${scan._id}/creative-video`,
    vastXml: `${publicUrl}/api/v1/scans/${scan._id}/vast-xml`,
    creativeHtml: `${publicUrl}/api/v1/scans/${scan._id}/creative-html`,
    landingScreenshot: (ord: number) => `${publicUrl}/api/v1/scans/${scan._id}/landings/${ord}/screenshot`,
    /** Equal to the public report, because there is no console yet. */
    report,
    publicReport: report,
  };
}
