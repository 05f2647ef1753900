import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import t from 'tap';
import { isRead } from '../../../../../src/chains/solana/rpc.ts';

/** Methods that current nodes no longer have. */
const GONE = ['getFeeCalculatorForBlockhash', 'getStakeActivation', 'getConfirmedSignaturesForAddress2'];
const ACTING = ['sendTransaction', 'requestAirdrop'];

t.test('of what the public client calls, all is a read but what it sends with', async (t) => {
  const client = createRequire(import.meta.url).resolve('@solana/web3.js');
  const source = await readFile(client, 'utf8');
  const called = new Set([...source.matchAll(/_rpcRequest\('(\w+)'/g)].map(([, method = '']) => method));
  t.ok(called.size > 40, `${called.size} methods`);
  for (const method of ACTING) t.ok(called.delete(method), method);
  for (const method of GONE) called.delete(method);
  t.strictSame(
    [...called].filter((method) => !isRead(method)),
    [],
  );
});

t.test('whatever is not known may act', async (t) => {
  for (const method of [...ACTING, 'sendBundle', 'getAsset', 'simulatetransaction', '', 'toString', '__proto__']) {
    t.notOk(isRead(method), method);
  }
});
