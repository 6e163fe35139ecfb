import sharp from 'sharp';

const [WIDTH, HEIGHT] = [8, 8];

/**
 * The perceptual hash of a picture (dHash): whether it becomes brighter from each of 8 x 8 places to the next one on
 * the right, as 64 bits in hexadecimal. Similar pictures have similar hashes, in any size and encoding.
 */
export async function pictureHash(picture: Buffer): Promise<string> {
  const pixels = await sharp(picture)
    .flatten({ background: '#fff' })
    .greyscale()
    .resize(WIDTH + 1, HEIGHT, { fit: 'fill' })
    .raw()
    .toBuffer();
  let bits = 0n;
  for (let y = 0; y < HEIGHT; y += 1)
    for (let x = 0; x < WIDTH; x += 1) {
      const at = y * (WIDTH + 1) + x;
      bits = (bits << 1n) | (pixels[at]! < pixels[at + 1]! ? 1n : 0n);
    }
  return bits.toString(16).padStart((WIDTH * HEIGHT) / 4, '0');
}
