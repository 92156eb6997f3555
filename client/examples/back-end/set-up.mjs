// Creates the user anna and an integration for pages at ORIGIN. Prints the key of the integration.
import { createClient, PakhusError } from '@pakhus/client';

const { PAKHUS_URL, PAKHUS_KEY, ORIGIN = 'http://127.0.0.1:8080' } = process.env;
const client = createClient({ baseUrl: PAKHUS_URL, key: PAKHUS_KEY });

try {
  await client.users.create({ externalId: 'anna' });
} catch (error) {
  if (!(error instanceof PakhusError) || error.code !== 'CONFLICT') throw error;
}
const { api_key } = await client.project.integrations.create({
  name: 'example',
  scopes: ['users:read', 'files:read', 'files:write'],
  corsOrigins: [ORIGIN],
});
console.log(api_key);
