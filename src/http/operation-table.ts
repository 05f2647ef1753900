import { apiKeyOperations, apiKeySchema } from '../features/api-keys/operations.ts';
import { auditOperations, auditRecordSchema } from '../features/audit/operations.ts';
import { networkOperations, networkSchema } from '../features/networks/operations.ts';
import { pluginCallOperations, pluginOperations, pluginSchema } from '../features/plugins/operations.ts';
import { relayerOperations } from '../features/relayers/operations.ts';
import { signerOperations, signerSchema } from '../features/signers/operations.ts';
import { signingOperations } from '../features/signing/operations.ts';
import { batchOperations } from '../features/transactions/batch-operations.ts';
import {
  lifecycleOperations,
  timelineEventSchema,
  timelineSchema,
  transactionOperations,
} from '../features/transactions/operations.ts';
import { deliverySchema, notificationOperations, wholeDeliverySchema } from '../features/webhooks/operations.ts';
import { failureSchema, notificationSchema, pluginFailureSchema, readinessSchema } from './openapi/answers.ts';
import { type ChainBodies, type DescribedOperation, describedOperation, type Operation } from './operation.ts';
import { eventOperations } from './routes/events.ts';
import { healthOperations } from './routes/health.ts';
import { metricOperations } from './routes/metrics.ts';
import { descriptionOperation } from './routes/pages.ts';

/** The operations whose bodies must be JSON. */
export const API_OPERATIONS: readonly Operation[] = [
  ...healthOperations,
  ...relayerOperations,
  ...transactionOperations,
  ...batchOperations,
  ...lifecycleOperations,
  ...pluginOperations,
  ...notificationOperations,
  ...signingOperations,
  ...signerOperations,
  ...networkOperations,
  ...apiKeyOperations,
  ...auditOperations,
  ...eventOperations,
  ...metricOperations,
];

export const ALL_OPERATIONS: readonly Operation[] = [...API_OPERATIONS, ...pluginCallOperations, descriptionOperation];

/** All operations with what is said of them, by method and path. */
export function describedOperations(chains: ChainBodies): Readonly<Record<string, DescribedOperation>> {
  return Object.fromEntries(
    ALL_OPERATIONS.map((one) => [`${one.method} ${one.path}`, describedOperation(one, chains)]),
  );
}

/** The schemas that the description shows under names of their own. */
export const NAMED_ANSWERS = {
  Plugin: pluginSchema,
  Timeline: timelineSchema,
  TimelineEvent: timelineEventSchema,
  Notification: notificationSchema,
  Delivery: deliverySchema,
  WholeDelivery: wholeDeliverySchema,
  Signer: signerSchema,
  Network: networkSchema,
  ApiKey: apiKeySchema,
  AuditRecord: auditRecordSchema,
  Failure: failureSchema,
  PluginFailure: pluginFailureSchema,
  Readiness: readinessSchema,
} as const;
