import { readRows } from './read-rows.ts';

/** How the directory responds for a company: immediately, after one failure, or after one timeout. */
export type Reach = 'steady' | 'flaky' | 'slow';

export interface CompanyRow {
  readonly name: string;
  readonly domain: string;
  readonly employees: number;
  readonly city: string;
  readonly industry: string;
  readonly reach: Reach;
}

/** name, domain, employees, city, industry, and `flaky` or `slow` if the directory fails first */
const table = `
Helvetia Robotics AG       | helvetia-robotics.example |   84 | Winterthur  | robotics   | flaky
Fjordkraft Systems AS      | fjordkraft.example        |  310 | Bergen      | energy
Polarlys Analytics AB      | polarlys.example          |   46 | Luleå       | analytics
Sisu Maritime Oy           | sisu-maritime.example     |  128 | Turku       | shipping
Öresund Payments AB        | oresund-pay.example       |  205 | Malmö       | payments
Lumi Health Oy             | lumi-health.example       |   73 | Oulu        | health
Skagerrak Foods AS         | skagerrak-foods.example   |  540 | Kristiansand | food
Norrsken Mobility AB       | norrsken-mobility.example |   61 | Umeå        | mobility
Gotthard Logistics AG      | gotthard-logistics.example | 420 | Altdorf     | logistics
Engadin Optics AG          | engadin-optics.example    |   37 | Samedan     | optics
Zugspitze Software GmbH    | zugspitze-software.example |  92 | Garmisch    | software
Tauern Energie GmbH        | tauern-energie.example    |  260 | Salzburg    | energy     | flaky
Bodensee Medtech AG        | bodensee-medtech.example  |  150 | Konstanz    | health
Inntal Maschinenbau GmbH   | inntal-maschinenbau.example | 610 | Kufstein   | machinery
Säntis Data AG             | saentis-data.example      |   29 | Appenzell   | analytics
Daugava Freight SIA        | daugava-freight.example   |  175 | Riga        | logistics
Tallinn Ledger OÜ          | tallinn-ledger.example    |   58 | Tallinn     | payments
Nemunas Timber UAB         | nemunas-timber.example    |  240 | Kaunas      | timber
Saaremaa Marine OÜ         | saaremaa-marine.example   |   33 | Kuressaare  | shipping
Vilnius Photonics UAB      | vilnius-photonics.example |   88 | Vilnius     | optics     | flaky
Kurzeme Dairy SIA          | kurzeme-dairy.example     |  195 | Kuldīga     | food
Amber Grid UAB             | amber-grid.example        |  320 | Klaipėda    | energy
Peipsi Agro OÜ             | peipsi-agro.example       |   41 | Tartu       | farming
Gauja Robotics SIA         | gauja-robotics.example    |   64 | Sigulda     | robotics
Neris Biotech UAB          | neris-biotech.example     |  112 | Vilnius     | health
Jūrmala Resorts SIA        | jurmala-resorts.example   |  280 | Jūrmala     | travel
Lahemaa Forest OÜ          | lahemaa-forest.example    |   52 | Rakvere     | timber
Tajo Marítima SL           | tajo-maritima.example     |  230 | Lisboa      | shipping   | slow
Meseta Solar SL            | meseta-solar.example      |  145 | Valladolid  | energy
Ribeira Digital Lda        | ribeira-digital.example   |   66 | Porto       | software
Montjuïc Labs SL           | montjuic-labs.example     |   39 | Barcelona   | research
Lorelei Chemie GmbH        | lorelei-chemie.example    | 1250 | Koblenz     | chemistry
Rheinbogen Software GmbH   | rheinbogen.example        |   97 | Köln        | software
Istra Foods doo            | istra-foods.example       |  180 | Pula        | food
Garonne Avionique SAS      | garonne-avionique.example |  470 | Toulouse    | aviation
Lutèce Conseil SAS         | lutece-conseil.example    |   54 | Paris       | consulting
Scheldt Ports NV           | scheldt-ports.example     |  860 | Antwerpen   | logistics
Shannon Devices Ltd        | shannon-devices.example   |  135 | Limerick    | devices
Aegean Ferries SA          | aegean-ferries.example    |  390 | Piraeus     | shipping
Tatra Steel as             | tatra-steel.example       |  720 | Košice      | machinery
`;

export const companyRows: readonly CompanyRow[] = readRows(table).map(
  ([name = '', domain = '', employees, city = '', industry = '', reach = 'steady']) => ({
    name,
    domain,
    employees: Number(employees),
    city,
    industry,
    reach: reach as Reach, // written a few lines above
  }),
);
