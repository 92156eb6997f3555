// Loads the code of content, zips, variants and shares when it is needed.
import { delay } from '../delay.ts';
import type { Http } from '../http.ts';
import { listing } from '../listing.ts';
import type { Tools } from './delivery.ts';

export const loadDelivery = () => import('./delivery.ts');

export const toTools = (http: Http): Tools => ({ http, pause: delay, list: listing });
