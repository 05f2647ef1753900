/**
 * CRC-32C of Castagnoli (RFC 3720, appendix B.4), which Node does not have. Computed bit by bit, because the inputs are
 * short.
 */
export function crc32c(bytes: Uint8Array): number {
  let crc = 0xffff_ffff;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit += 1) crc = (crc >>> 1) ^ (crc & 1 ? 0x82f6_3b78 : 0);
  }
  return ~crc >>> 0;
}
