import t from 'tap';
import { AppError, invalidRequest } from '../../../../src/domain/errors.ts';
import { INTERNAL_FAILURE, relayerFailure } from '../../../../src/plugin-host/relayer-failure.ts';

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
  t.equal(text(new AppError('RELAYER_DISABLED', {})), 'Relayer error: Relayer is disabled');
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
