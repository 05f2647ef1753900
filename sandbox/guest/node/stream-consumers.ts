type Chunks = AsyncIterable<unknown> | Iterable<unknown>;

async function buffer(stream: Chunks): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of stream) {
    chunks.push(typeof chunk === 'string' ? Buffer.from(chunk) : Buffer.from(chunk as Uint8Array));
  }
  return Buffer.concat(chunks);
}

async function text(stream: Chunks): Promise<string> {
  return new TextDecoder().decode(await buffer(stream));
}

/** Node's module `stream/consumers`. */
export const streamConsumers = {
  buffer,
  text,
  bytes: async (stream: Chunks) => Uint8Array.from(await buffer(stream)),
  json: async (stream: Chunks): Promise<unknown> => JSON.parse(await text(stream)),
  blob: async (stream: Chunks) => new Blob([Uint8Array.from(await buffer(stream))]),
  async arrayBuffer(stream: Chunks) {
    const { buffer: bytes, byteOffset, byteLength } = await buffer(stream);
    return bytes.slice(byteOffset, byteOffset + byteLength);
  },
};
