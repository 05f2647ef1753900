import t from 'tap';
import { dialect } from '../../../../../src/chains/evm/dialect.ts';
import { RpcError } from '../../../../../src/egress/rpc/rpc-client.ts';
import { isDenial, judgeFailure } from '../../../../../src/egress/rpc/rpc-verdict.ts';
import { allOf, ETHEREUM, GATEWAYS, VERDICTS } from '../../egress/rpc/error-corpus.ts';

const ALL = [...allOf(ETHEREUM), ...allOf(GATEWAYS)];
const node = (code: number, message: string, status = 200) => new RpcError('node', message, { code, status });

t.test('what is said by nodes and by the gateways before them', async (t) => {
  for (const [meaning, [code, text, source, status]] of ALL) {
    t.same(judgeFailure(node(code, text, status), dialect), VERDICTS[meaning], `${code} ${text} (${source})`);
  }
});

t.test('a node that denies an answer is told from one in trouble, and from one that refuses us', async (t) => {
  for (const [meaning, [code, text, , status]] of ALL) {
    const denies = ['lacks', 'permanent', 'state'].includes(meaning);
    t.equal(isDenial(node(code, text, status), dialect), denies, text);
  }
  t.notOk(isDenial(new RpcError('http', 'HTTP status 404', { status: 404 }), dialect));
  t.notOk(isDenial(new Error('pruned'), dialect));
});

t.test('unknown vs known transaction text: only one of them says that the pool has it', async (t) => {
  t.equal(judgeFailure(node(-32_603, 'known transaction: 0x2a'), dialect).meaning, 'state');
  t.equal(judgeFailure(node(-32_000, 'unknown transaction'), dialect).meaning, 'permanent');
  t.not(judgeFailure(node(-32_603, 'unknown transaction'), dialect).meaning, 'state');
});
