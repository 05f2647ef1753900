import { failureSchema, notificationSchema, pluginFailureSchema, readinessSchema } from './openapi/answers.ts';
import { type ChainBodies, type DescribedOperation, describedOperation, type Operation } from './operation.ts';
import { apiKeyOperations, apiKeySchema } from './routes/api-keys.ts';
import { auditOperations, auditRecordSchema } from './routes/audit.ts';
import { batchOperations } from './routes/batches.ts';
import { eventOperations } from './routes/events.ts';
import { healthOperations } from './routes/health.ts';
import { metricOperations } from './routes/metrics.ts';
import { networkOperations, networkSchema } from './routes/networks.ts';
import { deliverySchema, notificationOperations, wholeDeliverySchema } from './routes/notifications.ts';
import { descriptionOperation } from './routes/pages.ts';
import { pluginCallOperations, pluginOperations, pluginSchema } from './routes/plugins.ts';
import { relayerOperations } from './routes/relayers.ts';
import { signerOperations, signerSchema } from './routes/signers.ts';
import { signingOperations } from './routes/signing.ts';
import {
  lifecycleOperations,
  timelineEventSchema,
  timelineSchema,
  transactionOperations,
} from './routes/transactions.ts';

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
