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
  {
    kind: 'an MRAID ad that goes through its states',
    emulator: 'iphone_15',
    tag: `<script src="mraid.js"></script><div id="ad" style="width:300px;height:250px;background:#cde;cursor:pointer"></div><script>
      const told = [MRAID_ENV.version, mraid.getState(), mraid.isViewable()]; const ad = document.getElementById('ad');
      mraid.addEventListener('error', (message, action) => told.push('refused ' + action)); mraid.addEventListener('sizeChange', (w, h) => told.push(w + 'x' + h));
      mraid.addEventListener('ready', () => { told.push(mraid.getPlacementType(), mraid.isViewable(), mraid.supports('calendar'));
        mraid.resize(); mraid.setResizeProperties({ width: 20, height: 20, offsetX: 0, offsetY: 0 }); mraid.resize();
        mraid.setResizeProperties({ width: 320, height: 280, offsetX: 0, offsetY: 0 }); mraid.resize(); told.push(mraid.getState());
        mraid.close(); told.push(mraid.getState()); mraid.useCustomClose(true); mraid.expand(); told.push(mraid.getState(), mraid.getExpandProperties().useCustomClose); mraid.resize();
        mraid.close(); told.push(mraid.getState(), mraid.getCurrentPosition().width); mraid.removeEventListener('error'); mraid.storePicture('x'); ad.textContent = told.join(' '); });
      ad.onclick = () => mraid.open('${ADS}/click');</script>`,
    size: [300, 250],
    landing: SHOP,
    markup:
      />3\.0 loading false inline true false refused resize refused resize 320x280 resized 300x250 default \d+x\d+ expanded true refused resize 300x250 default 300</,
  },
  {
    kind: 'an MRAID ad of two parts',
    emulator: 'iphone_15',
    tag: `<script src="mraid.js"></script><button id="more" style="width:300px;height:250px">More</button><script>document.getElementById('more').onclick = () => mraid.expand('${ADS}/part-2')</script>`,
    pages: {
      [`${ADS}/part-2`]: `<!doctype html><script src="mraid.js"></script><body style="margin:0"><button id="buy" style="width:100%;height:300px"></button><script>const buy = document.getElementById('buy'); buy.onclick = () => { if (mraid.getState() === 'expanded') mraid.open('${ADS}/click') }</script>`,
    },
    size: [300, 250],
    landing: SHOP,
    markup: /More/,
  },
  {
    kind: 'an MRAID ad that closes itself',
    emulator: 'iphone_15',
    tag: `<script src="mraid.js"></script><div style="width:300px;height:250px;background:#cde">Lamp</div><script>mraid.addEventListener('ready', () => { mraid.close(); mraid.close() })</script>`,
    size: null,
    landing: null,
    markup: /Lamp/,
  },
];
