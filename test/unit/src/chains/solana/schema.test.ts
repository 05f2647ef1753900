import { PublicKey, TransactionInstruction } from '@solana/web3.js';
import t from 'tap';
import { fromWire, readFields, readRequest } from '../../../../../src/chains/solana/schema.ts';
import { keyOf } from '../../../../support/solana-node.ts';

t.test('stored requests and fields are parsed on the way out', async (t) => {
  t.strictSame(readRequest({ transaction: 'AQ==' }), { transaction: 'AQ==' });
  t.throws(() => readRequest({ transaction: 'AQ==', fee: 1 }), /fee/);
  t.equal(readFields({}), undefined, 'before it is prepared');
  const fields = { message: 'AQ==', signatures: [], last_valid_block_height: null, slot: '7', fee: '5000' };
  t.match(readFields(fields), { message: 'AQ==', last_valid_block_height: null });
  t.throws(() => readFields({ ...fields, fee: -1 }), /fee/);
});

t.test('instructions are compiled from what clients write', async (t) => {
  const wire = {
    program_id: keyOf(1),
    accounts: [{ pubkey: keyOf(2), is_signer: true, is_writable: false }],
    data: 'AQID',
  };
  t.strictSame(fromWire([wire]), [
    new TransactionInstruction({
      programId: new PublicKey(keyOf(1)),
      keys: [{ pubkey: new PublicKey(keyOf(2)), isSigner: true, isWritable: false }],
      data: Buffer.from([1, 2, 3]),
    }),
  ]);
});
