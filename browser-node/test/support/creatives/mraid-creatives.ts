import { ADS, CDN, type Creative, SHOP } from './creative.ts';

/** Creatives for the container of an app (MRAID 3.0). */
export const MRAID_CREATIVES: Creative[] = [
  {
    kind: 'MRAID 3',
    emulator: 'iphone_15',
    tag: `<script src="mraid.js"></script><div id="ad" style="width:300px;height:250px"></div><script>
      const show = () => { document.getElementById('ad').style.background = '#cde'; document.getElementById('ad').textContent = 'ready ' + mraid.getVersion() + ' ' + mraid.getState() + ' ' + mraid.isViewable(); };
      mraid.getState() === 'loading' ? mraid.addEventListener('ready', show) : show();
      document.getElementById('ad').style.cursor = 'pointer'; document.getElementById('ad').onclick = () => mraid.open('${ADS}/click');</script>`,
    size: [300, 250],
    landing: SHOP,
    markup: /ready 3\.0 default true/,
  },
  {
    kind: 'an MRAID ad that expands first',
    emulator: 'iphone_15',
    tag: `<script src="${CDN}/lib/mraid.js"></script><div id="ad" style="width:100%;height:100%;background:#cde"><button id="more" style="position:absolute;left:10px;top:10px">More</button></div><script>
      document.getElementById('more').onclick = () => mraid.getState() === 'default' ? mraid.expand() : mraid.open('${ADS}/click');</script>`,
    size: [300, 250],
    landing: SHOP,
    markup: /More/,
  },
];
