import { article, creativePage, frame, lines, picture, type Size, script } from '../markup.ts';
import type { PublisherPage } from '../publisher-page.ts';

/** A page that frames a document of another host, which is no ad. */
const framed = (name: string, src: string, size: Size, inner: string, around = ''): PublisherPage => ({
  subject: 'look_alikes',
  name,
  html: article(lines(1) + around + frame(src, size, `title="${name}"`) + lines(2)),
  files: { [src]: creativePage(inner) },
  ads: [],
});
const plain = (name: string, body: string, files: Record<string, string> = {}): PublisherPage => ({
  subject: 'look_alikes',
  name,
  html: article(lines(1) + body + lines(2)),
  files,
  ads: [],
});
const own = (name: string, size: Size): string => picture(size, `www.${name}.example`);
const HIDDEN = 'style="display:none"';

/** Pages without any ad. */
export const LOOK_ALIKE_PAGES: PublisherPage[] = [
  plain(
    'share-buttons',
    `<div><a href="https://www.facebook.com/sharer">Share</a>${frame('https://platform.twitter.com/widgets/tweet_button.html', '120x600')}${frame('https://www.facebook.com/plugins/like.php', '300x250')}</div>`,
    {
      'https://platform.twitter.com/widgets/tweet_button.html': creativePage(
        '<a href="https://twitter.com/intent/tweet" target="_blank">Post</a>',
      ),
      'https://www.facebook.com/plugins/like.php': creativePage('<button>Like</button>'),
    },
  ),
  framed(
    'map',
    'https://www.google.com/maps/embed',
    '300x250',
    '<a href="https://maps.google.com/" target="_blank">Open in Maps</a>',
  ),
  framed(
    'video-embed',
    'https://www.youtube.com/embed/abc',
    '640x360',
    '<video width="640" height="360" style="background:#234"></video>',
  ),
  framed('payment', 'https://js.stripe.com/v3/elements-inner-card.html', '320x50', '<input placeholder="Card number">'),
  framed('chat', 'https://widget.intercom.io/widget/frame.html', '320x480', '<p>How can we help?</p><input>'),
  framed(
    'consent',
    'https://consent.cookiebot.com/dialog.html',
    '728x90',
    '<p>We and our 700 partners use cookies for ads.</p><button>Accept</button>',
  ),
  framed(
    'comments',
    'https://disqus.com/embed/comments/',
    '300x600',
    '<p>3 comments</p><a href="https://disqus.com/" target="_blank">Log in</a>',
  ),
  framed(
    'captcha',
    'https://www.recaptcha.net/recaptcha/api2/anchor',
    '300x250',
    '<label><input type="checkbox">I am not a robot</label>',
  ),
  framed('login', 'https://accounts.google.com/gsi/iframe/select', '300x250', '<button>Continue with Google</button>'),
  framed(
    'weather',
    'https://www.weather-widget.example/town',
    '300x250',
    '<a href="https://www.weather-widget.example/" target="_blank">Sunny, 21 degrees</a>',
  ),
  framed(
    'stocks',
    'https://s.tradingview.com/embed-widget/tickers/',
    '728x90',
    '<a href="https://www.tradingview.com/" target="_blank">Index 1,234</a>',
  ),
  plain(
    'own-pictures',
    (['300x250', '728x90', '160x600', '300x600'] as const)
      .map((size) => `<a href="/articles/${size}">${own('own-pictures', size)}</a>${lines(1)}`)
      .join(''),
  ),
  plain(
    'bait',
    `<div id="ads" class="ad ads adsbox ad-banner banner_ad textads pub_300x250" style="width:300px;height:250px"></div>${script("fetch('https://pagead2.googlesyndication.com/pagead/js/adsbygoogle.js').catch(() => undefined); window.isBlocked = document.getElementById('ads').offsetHeight === 0;")}`,
  ),
  plain(
    'trackers',
    `<iframe src="https://www.googletagmanager.com/ns.html" height="0" width="0" style="display:none;visibility:hidden"></iframe><iframe ${HIDDEN} src="https://gum.criteo.com/syncframe"></iframe><iframe width="1" height="1" style="border:0" src="https://ads.pubmatic.com/AdServer/js/user_sync.html"></iframe>${frame('https://cdn.doubleverify.com/probe.html', '1x1')}<img src="https://ib.adnxs.com/getuid" width="1" height="1" alt="">`,
    {
      'https://www.googletagmanager.com/ns.html': creativePage(''),
      'https://gum.criteo.com/syncframe': creativePage(''),
      'https://ads.pubmatic.com/AdServer/js/user_sync.html': creativePage(
        script("new Image().src = 'https://ib.adnxs.com/getuid';"),
      ),
      'https://cdn.doubleverify.com/probe.html': creativePage(''),
    },
  ),
];
