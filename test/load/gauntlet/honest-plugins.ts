/** The honest plugins, by id: a trivial one, one that uses `kv`, one with a library, one that pays. */
export const HONEST_PLUGINS = {
  greets: `export async function handler({ params }) {
  return { greeting: 'Hello, ' + params.name + '!' };
}
`,
  remembers: `export async function handler({ params, kv }) {
  const key = 'visits-' + (params.turn % 50);
  const before = (await kv.get(key)) ?? 0;
  await kv.set(key, params.turn);
  return { before, now: await kv.get(key) };
}
`,
  encodes: `import { AbiCoder, getAddress, keccak256, parseEther } from 'ethers';

export async function handler({ params }) {
  const data = AbiCoder.defaultAbiCoder().encode(
    ['address', 'uint256'],
    [getAddress(params.to), parseEther(String(params.turn))],
  );
  return { data, digest: keccak256(data) };
}
`,
  pays: `export async function handler({ params, api }) {
  const sent = await api.useRelayer(params.relayerId).sendTransaction(params.request);
  const { status } = await sent.wait({ interval: 200, timeout: 20000 });
  return { id: sent.id, status };
}
`,
} as const;

export type HonestPlugin = keyof typeof HONEST_PLUGINS;
