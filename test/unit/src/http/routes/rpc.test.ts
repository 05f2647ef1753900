import { createHash } from 'node:crypto';
import t from 'tap';
import { Access } from '../../../../../src/features/api-keys/records/access.ts';
import { startHttp } from '../../../../support/http-server.ts';

t.test('the answer is the bare JSON-RPC object', async (t) => {
  const { post } = await startHttp(t);
  const answer = await post('/api/v1/relayers/r1/rpc', '{"method":"eth_chainId","id":7}');
  t.equal(answer.status, 200);
  t.strictSame(answer.json, { jsonrpc: '2.0', result: '0x1', id: 7 });
});

t.test('a key that may only pass calls through neither signs nor sends by methods of the family', async (t) => {
  const { url, clientKeys, services } = await startHttp(t);
  const make = (...permissions: string[]) => {
    const key = permissions.join();
    const hash = createHash('sha256').update(key).digest('hex');
    const rest = { rate: null, allowedOrigins: ['*'], expiresAt: null };
    clientKeys.set(hash, { id: key, access: new Access(permissions), ...rest });
    return async (body: unknown) => {
      const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
      const answer = await fetch(`${url}/api/v1/relayers/r1/rpc`, {
        method: 'POST',
        headers,
        body: JSON.stringify(body),
      });
      return { status: answer.status, json: await answer.json() };
    };
  };
  const [read, sign, send] = [
    { method: 'getBalance' },
    { method: 'signTransaction' },
    { method: 'signAndSendTransaction' },
  ];
  const passing = make('relayers:r1:rpc');
  t.equal((await passing(read)).status, 200);
  const refused = { status: 403, json: { code: 'NOT_PERMITTED', error: /sign/ } };
  t.match(await passing(sign), refused);
  t.match(await passing([read, sign]), refused, 'nor in a batch');
  t.match(await passing({ method: 'signAndSendTransaction', id: 1 }), { status: 403, json: { error: /send/ } });
  for (const method of ['eth_sendTransaction', 'personal_sign', 'anvil_setBalance', 'evm_mine', 'eth_sign', 'x']) {
    t.match(
      await passing([read, { method }]),
      { status: 403, json: { code: 'NOT_PERMITTED', error: /:send$/ } },
      method,
    );
  }
  t.equal(services.rpc.calls, 1, 'nothing was asked');
  const broadcasting = make('relayers:r1:rpc', 'relayers:r1:send');
  t.equal((await broadcasting({ method: 'eth_sendRawTransaction' })).status, 200);
  t.match(await broadcasting({ method: 'eth_sendTransaction' }), { status: 403, json: { error: /:sign$/ } });
  const signing = make('relayers:r1:rpc', 'relayers:r1:sign');
  t.strictSame([(await signing(sign)).status, (await signing([read, sign, send])).status], [200, 403]);
  t.equal((await make('relayers:r1:*')([read, sign, send])).status, 200);
});

t.test('a batch counts as its calls', async (t) => {
  const { post } = await startHttp(t, { rate: { perSecond: 0.001, burst: 5 } });
  const batch = (count: number) =>
    post('/api/v1/relayers/r1/rpc', JSON.stringify(Array(count).fill({ method: 'x', id: 1 })));
  t.match(await batch(6), { status: 400, json: { error: /6 at once are more than the 5/ } });
  t.equal((await batch(3)).status, 200);
  t.equal((await batch(2)).status, 429);
});

t.test('a batch is answered by a list', async (t) => {
  const { post } = await startHttp(t);
  const call = { method: 'eth_chainId', id: 7 };
  const answer = await post('/api/v1/relayers/r1/rpc', JSON.stringify([call, call]));
  const outcome = { jsonrpc: '2.0', result: '0x1', id: 7 };
  t.equal(answer.status, 200);
  t.strictSame(answer.json, [outcome, outcome]);
});
