export const VIDEO_TITLE = 'Market traders bring the old harbour back to life';

/**
 * The HTML of a page with a video, as publishers have them: the player is added to its `main` element, before the
 * article.
 */
export const VIDEO_PAGE = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">
<link rel="icon" href="data:,"><title>${VIDEO_TITLE}</title>
<meta name="description" content="Twenty stalls opened on the quay this weekend. We spoke to the people behind them.">
<meta property="og:type" content="video.other"><meta property="og:title" content="${VIDEO_TITLE}">
<style>
body{margin:0;font:16px/1.5 Georgia,serif;color:#222;background:#fff}
header,footer{padding:12px 16px;background:#1c2b3a;color:#fff}
header a,footer a{color:#fff;margin-right:16px;text-decoration:none}
main{max-width:960px;margin:0 auto}
article,aside{padding:8px 16px}
h1{font-size:28px;line-height:1.2;margin:16px 0 8px}
.byline{color:#666;font-size:14px}
</style></head>
<body><header><nav><a href="/">Home</a><a href="/news">News</a><a href="/video">Video</a><a href="/weather">Weather</a><a href="/contact">Contact</a></nav></header>
<main><article><h1>${VIDEO_TITLE}</h1><p class="byline">By our city desk, updated this morning</p>
<p>Twenty stalls opened on the quay this weekend, for the first time in eleven years. By noon the bakers had sold out and a queue for smoked
fish reached as far as the ferry terminal.</p>
<p>The harbour office had planned for half as many visitors. It now wants to open the market every second Saturday until October, provided that the
tram runs later in the evening and that more bins are put up.</p>
<p>Most of the traders live within walking distance. Some of them learned their craft from parents who had sold at the same place. Others
started last year in their own kitchens and have never had a stall before.</p>
<p>The next market is in two weeks, from nine in the morning. Entry is free, and dogs are welcome on a lead.</p></article>
<aside><h2>More from the city</h2><ul><li><a href="/news/tram">Late trams to be tested this summer</a></li>
<li><a href="/news/library">Library stays open on Sundays</a></li><li><a href="/news/bridge">Bridge repairs finished early</a></li></ul></aside></main>
<footer><a href="/about">About us</a><a href="/privacy">Privacy</a><a href="/terms">Terms of use</a></footer></body></html>`;
