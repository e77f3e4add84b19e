-- MySQL dump 10.13
/*!40101 SET NAMES utf8mb4 */;
USE `shop`;
CREATE TABLE `notes` (`id` int, `text` longtext, KEY `k` (`id`));
INSERT INTO `notes` VALUES (1,'it\'s \"x\"\n'),(2,_binary 'a\0'),(3,0x6162);
DELIMITER ;;
CREATE PROCEDURE p() BEGIN SELECT 1; END ;;
DELIMITER ;
-- Dump completed
