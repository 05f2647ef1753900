import t from 'tap';
import { AppError, invalidRequest } from '../../../../../../../src/domain/errors.ts';
import {
  INTERNAL_FAILURE,
  relayerFailure,
  spendingFailure,
} from '../../../../../../../src/features/plugins/host/capabilities/relayer-failure.ts';

t.test('failures have the texts that plugins of the reference compare with', async (t) => {
  const text = (error: AppError) => relayerFailure(error, 'Relayer error: Bad Request: ');
  t.equal(
    text(new AppError('RELAYER_NOT_FOUND', { id: 'x' })),
    'Relayer error: Not Found: Relayer with ID x not found',
  );
  t.equal(
    text(new AppError('TRANSACTION_NOT_FOUND', { id: 'x' })),
    'Relayer error: Not Found: Transaction with ID x not found',
  );
  t.equal(text(new AppError('RELAYER_PAUSED', {})), 'Relayer error: Relayer is paused');
  t.equal(text(new AppError('RELAYER_DISABLED', { reason: 'r1 has 0 wei' })), 'Relayer error: Relayer is disabled');
  t.equal(text(invalidRequest('to: missing')), 'Relayer error: Bad Request: to: missing');
  t.equal(relayerFailure(invalidRequest('to'), 'Invalid payload: '), 'Invalid payload: to');
  t.equal(
    text(new AppError('NOT_SUPPORTED', { what: 'sign_transaction', networkType: 'evm' })),
    'Relayer error: Not supported: sign_transaction not supported for EVM',
  );
  t.equal(text(new AppError('UNAVAILABLE', { reason: 'busy' })), 'Relayer error: busy');
});

t.test('what broke inside the service is not told', async (t) => {
  const error = new AppError('SIGNER_FAILED', { id: 'main', reason: 'vault at 10.0.0.7 said no' });
  t.equal(relayerFailure(error, 'Invalid payload: '), INTERNAL_FAILURE);
});

t.test('what a plugin’s limits do not allow has a code and figures beside its text; nothing else has', async (t) => {
  const breach = { rule: 'recipients', asked: '0x1', limit: '0x2' };
  const exceeded = new AppError('GRANT_EXCEEDED', { plugin: 'p', relayer: 'r', ...breach });
  t.strictSame(spendingFailure(exceeded), { code: 'GRANT_EXCEEDED', status: 403, details: breach });
  t.equal(
    relayerFailure(exceeded, 'Relayer error: Bad Request: '),
    'Relayer error: Plugin p may not send this through relayer r: recipients allows 0x2, and 0x1 was asked for',
  );
  const figures = { rule: 'fee_per_hour', asked: '3', limit: '2', remaining: '1', free_from: 'no time' };
  const spent = new AppError('BUDGET_SPENT', { plugin: 'p', relayer: 'r', unit: 'wei', ...figures });
  t.strictSame(spendingFailure(spent), { code: 'BUDGET_SPENT', status: 403, details: figures });
  t.equal(spendingFailure(new AppError('RELAYER_PAUSED', {})), undefined);
});
